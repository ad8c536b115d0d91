"""pytest-benchmark: two benchmarks in a test file, run by pytest, read from the JSON that it writes.

pytest runs in this process: it is the real one, with its own calibration and rounds, but a process of its own for each
pair would spend several times the budget on importing the stack. Comparing is left to `tools.studies.noise.rules`.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tools.studies.noise.instruments.observation import Observation, Program, ProgramTimes
from xebench.errors import BrokenEnvironment

CONFIG: Final = "pytest.ini"

TEST_FILE: Final = """\
def test_first(benchmark, first):
    benchmark(first)


def test_second(benchmark, second):
    benchmark(second)
"""


def pytest_benchmark(first: Program, second: Program, budget_s: float) -> Observation:
    """Both as benchmarks with half of the budget each (``--benchmark-max-time``), all else by default.

    Raises:
        BrokenEnvironment: pytest-benchmark is not installed, or fails.
    """
    try:
        import pytest
    except ImportError as error:
        raise BrokenEnvironment("the study needs pytest and pytest-benchmark: run make install") from error

    class Programs:
        @pytest.fixture
        def first(self) -> Program:
            return first

        @pytest.fixture
        def second(self) -> Program:
            return second

        # what pytest-benchmark notes of the machine and of git says nothing of the pair, and takes as long as it
        @pytest.hookimpl(tryfirst=True)
        def pytest_benchmark_generate_machine_info(self) -> dict[str, str]:
            return {"node": "", "processor": "", "machine": ""}

        @pytest.hookimpl(tryfirst=True)
        def pytest_benchmark_generate_commit_info(self) -> dict[str, str]:
            return {}

    with tempfile.TemporaryDirectory() as folder:
        test, result = Path(folder) / "test_pair.py", Path(folder) / "result.json"
        test.write_text(TEST_FILE)
        (Path(folder) / CONFIG).write_text("[pytest]\n")  # none of the project's that the study runs in
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = pytest.main([*_options(folder, budget_s), f"--benchmark-json={result}", str(test)], [Programs()])
        if status != 0:
            raise BrokenEnvironment(f"pytest-benchmark failed: {output.getvalue().strip()[-200:]!r}: run make install")
        return read(json.loads(result.read_text()))


def read(result: Mapping[str, Any]) -> Observation:
    """The statistics of both benchmarks in a JSON file of pytest-benchmark."""
    sides = {benchmark["name"]: _side(benchmark["stats"]) for benchmark in result["benchmarks"]}
    return Observation(sides["test_first"], sides["test_second"])


def _side(stats: Mapping[str, Any]) -> ProgramTimes:
    return ProgramTimes(stats["rounds"], *(stats[name] * 1e9 for name in ("min", "mean", "median", "stddev")))


def _options(folder: str, budget_s: float) -> list[str]:
    return [
        "--quiet",
        f"--rootdir={folder}",
        f"--confcutdir={folder}",
        f"--config-file={folder}/{CONFIG}",
        # what makes pytest slow to start says nothing of the benchmark
        "--assert=plain",
        "--disable-plugin-autoload",
        "--import-mode=importlib",
        "-pno:cacheprovider",
        "-pno:faulthandler",
        "-ppytest_benchmark.plugin",
        f"--benchmark-storage={folder}",
        f"--benchmark-max-time={budget_s / 2}",
    ]
