"""The module that pytest loads (`pytest11`). It imports SYCL and pytest-benchmark only when they are used."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from xebench.errors import XebenchError
from xebench.pytest_plugin.borrowed import STORED, refuse_other_device

if TYPE_CHECKING:
    from xebench.pytest_plugin.device_benchmark import DeviceBenchmark

#: Lines for the end of the session.
LINES: Final[pytest.StashKey[list[str]]] = pytest.StashKey()

FIXTURE: Final = "device_benchmark"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of xebench."""
    group = parser.getgroup("xebench")
    group.addoption("--xebench", action="store_true", help="Collect pattern files: an item for each variant.")
    group.addoption("--xebench-preset", default="smoke", help="Preset of the patterns' sizes. Default: %(default)s")
    group.addoption(
        "--xebench-device", default="auto", help="auto, gpu, cpu or a SYCL filter string. Default: %(default)s"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Define the fixture, by whether pytest-benchmark is there.

    Raises:
        pytest.UsageError: processes of pytest-xdist would each make a run at the same time.
    """
    if config.getoption("--xebench") and config.getoption("dist", "no") != "no" and config.getoption("tx", None):
        raise pytest.UsageError("--xebench makes one run, and processes of pytest-xdist would disturb it: add -n 0")
    config.stash[STORED], config.stash[LINES] = {}, []
    has_benchmark = config.getoption("benchmark_only", None) is not None
    config.pluginmanager.register(_WithBenchmark() if has_benchmark else _WithoutBenchmark(), "xebench-fixtures")


class _WithBenchmark:
    @pytest.fixture
    def device_benchmark(self, request: pytest.FixtureRequest, benchmark: Any) -> Iterator[DeviceBenchmark]:
        """Time a function by the device's clock, or compare two."""
        from xebench.pytest_plugin import borrowed
        from xebench.pytest_plugin.device_benchmark import opened

        try:
            # a test may use both: each has a clock of its own
            own = borrowed.second(benchmark)
            if "benchmark" in inspect.signature(request.function).parameters:
                own.name, own.fullname = f"{own.name} (device)", f"{own.fullname} (device)"
            made = opened(own, request.config.getoption("--xebench-device"), request.config.stash[LINES].append)
        except XebenchError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        refuse_other_device(request, own.fullname, made.device.device_class, made.device.name)
        yield made
        borrowed.count_as_used(benchmark, own)

    def pytest_benchmark_compare_machine_info(self, config: pytest.Config, compared_benchmark: dict[str, Any]) -> None:
        """Remember on which devices the stored benchmarks were measured (``--benchmark-compare``)."""
        stored = compared_benchmark["benchmarks"]
        config.stash[STORED].update({one["fullname"]: one.get("extra_info") or {} for one in stored})


class _WithoutBenchmark:
    @pytest.fixture
    def device_benchmark(self) -> None:
        """Fail the test with the name of the missing package."""
        pytest.fail("device_benchmark needs pytest-benchmark: pip install pytest-benchmark", pytrace=False)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    """Collect a named pattern file as patterns, and record direct calls in a module that uses the fixture."""
    if _is_wanted(parent.config, module_path):
        from xebench.pytest_plugin.pattern_items import PatternFile

        return PatternFile.from_parent(parent, path=module_path)
    if FIXTURE.encode() in module_path.read_bytes():
        from xebench.pytest_plugin.device_benchmark import prepare

        try:
            prepare()  # `from numba_dpex import call_kernel` takes what is there when the module is imported
        except XebenchError as error:
            raise pytest.Collector.CollectError(str(error)) from error
    return None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Any:
    """Pattern files, with ``--xebench``; those that are named reach `pytest_pycollect_makemodule`."""
    if _is_wanted(parent.config, file_path) and not parent.session.isinitpath(file_path):
        from xebench.pytest_plugin.pattern_items import PatternFile

        return PatternFile.from_parent(parent, path=file_path)
    return None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was compared, and on what device."""
    said = config.stash[LINES]
    lines = dict.fromkeys(said)
    if lines:
        terminalreporter.section("xebench")
        for line in lines:
            terminalreporter.write_line(line)


def _is_wanted(config: pytest.Config, path: Path) -> bool:
    """True if a file is collected as one of patterns."""
    return (
        bool(config.getoption("--xebench"))
        and path.suffix == ".py"
        and not path.name.startswith(("_", "test_", "conftest"))
        and b"Pattern(" in path.read_bytes()
    )
