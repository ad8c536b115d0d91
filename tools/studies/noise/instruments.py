"""The tools that compare two programs, each within the same seconds, each as its users run it."""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import json
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tools.studies import intervals as intervals_study
from xebench.errors import BrokenEnvironment
from xebench.measuring.sampling import Sampling, sample_family
from xebench.results.analysis import answer, intervals
from xebench.results.analysis.statistics import start_of

Program = Callable[[], None]


@dataclass(frozen=True)
class ProgramTimes:
    """One program's times in a tool's own statistics.

    Attributes:
        n: How many values the statistics are of.
        min_ns: Smallest value.
        mean_ns: Mean.
        median_ns: Median.
        stdev_ns: Standard deviation of the sample.
    """

    n: int
    min_ns: float
    mean_ns: float
    median_ns: float
    stdev_ns: float

    @classmethod
    def of(cls, values_ns: Sequence[float]) -> ProgramTimes:
        """The statistics of values; of one alone without a deviation."""
        return cls(
            len(values_ns),
            float(min(values_ns)),
            statistics.fmean(values_ns),
            float(statistics.median(values_ns)),
            statistics.stdev(values_ns) if len(values_ns) > 1 else math.nan,  # one block, on a busy machine
        )


@dataclass(frozen=True)
class Observation:
    """A tool's result for a pair.

    Attributes:
        first: The first program's times.
        second: The second program's.
        speedup: The first's time over the second's, where the tool states one.
        low: Lower end of the interval that the tool states.
        high: Upper end.
        outcome: What the tool concludes: faster, slower, same or inconclusive; "" where that is left to its user.
        reason: Why.
        stopped_by: What ended the measurement, where that varies.
    """

    first: ProgramTimes
    second: ProgramTimes
    speedup: float = math.nan
    low: float = math.nan
    high: float = math.nan
    outcome: str = ""
    reason: str = ""
    stopped_by: str = ""

    def row(self) -> dict[str, Any]:
        """Columns of the study's table."""
        sides = {"first": self.first, "second": self.second}
        columns = {f"{side}_{name}": value for side, times in sides.items() for name, value in asdict(times).items()}
        return columns | {name: value for name, value in vars(self).items() if name not in sides}


def best_of(first: Program, second: Program, budget_s: float) -> Observation:
    """Half the budget for each program, after one call that is not counted; the decision is left to the reader."""
    return Observation(_times(first, budget_s / 2), _times(second, budget_s / 2))


def _times(program: Program, budget_s: float) -> ProgramTimes:
    begin = time.perf_counter_ns()
    program()
    times: list[float] = []
    while len(times) < 2 or time.perf_counter_ns() - begin < budget_s * 1e9:
        start = time.perf_counter_ns()
        program()
        times.append(time.perf_counter_ns() - start)
    return ProgramTimes.of(times)


VALUES: Final = 20
WARMUPS: Final = 1
CALIBRATION_CALLS: Final = 11


class Pyperf:
    """pyperf's runner in worker mode, which measures warm-ups and values of many loops each; one in a process.

    pyperf by itself starts 20 processes for each side, which takes minutes with a stack that needs seconds to import.
    Here the study's own process is the one worker of both sides. In return little time goes into calibration: the
    number of loops is given, and there are more values for pyperf's t-test than the three that a process takes by
    default.

    Raises:
        BrokenEnvironment: pyperf is not installed.
    """

    def __init__(self) -> None:
        self._runner = _package().Runner()
        self._runner.parse_args(f"--worker --quiet --loops 1 --values {VALUES} --warmups {WARMUPS}".split())
        self._names = (f"program {number}" for number in itertools.count())

    def __call__(self, first: Program, second: Program, budget_s: float) -> Observation:
        """The first program's values, then the second's, with as many loops as fit into the budget."""
        self._runner.args.loops = loops_within(length_ns(first), budget_s)
        return pyperf_result(self._measure(first), self._measure(second))

    def _measure(self, program: Program) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            return self._runner.bench_func(next(self._names), program)


def length_ns(program: Program) -> float:
    """Median of a few calls."""
    times = []
    for _ in range(CALIBRATION_CALLS):
        begin = time.perf_counter_ns()
        program()
        times.append(time.perf_counter_ns() - begin)
    return statistics.median(times)


def loops_within(program_ns: float, budget_s: float) -> int:
    """Loops of a value so that the values and warm-ups of two programs fit into the budget."""
    return max(1, int(budget_s / 2 / (VALUES + WARMUPS) / program_ns * 1e9))


def pyperf_result(first: Any, second: Any) -> Observation:
    """The statistics of two ``pyperf.Benchmark``; each value is the mean of its loops."""
    before, after = (ProgramTimes.of([1e9 * value for value in side.get_values()]) for side in (first, second))
    return Observation(before, after)


def _package() -> Any:
    try:
        return importlib.import_module("pyperf")
    except ImportError as error:
        raise BrokenEnvironment("the study needs pyperf: run make install") from error


CONFIG: Final = "pytest.ini"

TEST_FILE: Final = """\
def test_first(benchmark, first):
    benchmark(first)


def test_second(benchmark, second):
    benchmark(second)
"""


def pytest_benchmark(first: Program, second: Program, budget_s: float) -> Observation:
    """Both as benchmarks in a test file with half of the budget each (``--benchmark-max-time``), all else by default.

    pytest runs in this process: it is the real one, with its own calibration and rounds, but a process of its own for
    each pair would spend several times the budget on importing the stack.

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
        return pytest_result(json.loads(result.read_text()))


def pytest_result(result: Mapping[str, Any]) -> Observation:
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


_FIRST, _SECOND = "first", "second"


def xebench(
    first: Program,
    second: Program,
    budget_s: float,
    *,
    wall_ns: Callable[[Program], int],
    seed: int,
    precision: float = Sampling.precision,
) -> Observation:
    """Sample both side by side until the speed-up is known, or the budget spent.

    Args:
        first: The pair's first program: the baseline.
        second: Its second.
        budget_s: Seconds for both together.
        wall_ns: A session's host time of one execution.
        seed: Seed of the orders of the blocks.
        precision: ``--precision``.
    """
    programs = {_FIRST: first, _SECOND: second}
    sampling = Sampling(precision=precision, budget_s=budget_s)
    taken: dict[str, Sequence[float]] = {}

    def measure(variant: str, *, state: str, block: int, order: int, batch: int) -> float:
        return float(wall_ns(programs[variant]))

    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        taken.update(values)
        return intervals_study.decide(values, elapsed_s, baseline=_FIRST, sampling=sampling)

    sampled = sample_family((_FIRST, _SECOND), measure, decide, sampling, seed=seed)
    return conclude(taken[_FIRST], taken[_SECOND], sampled.stopped_by, answer.same_within(precision))


def conclude(
    first: Sequence[float],
    second: Sequence[float],
    stopped_by: str,
    band: float = answer.SAME_WITHIN,
) -> Observation:
    """The speed-up, its interval and the outcome of times by block, as the table `pairs` has them."""
    ratios = intervals.log_ratios(first, second)
    start = start_of(ratios)
    later = ratios[start.length :]
    kept = later if start.over else ratios
    speedup = intervals.speedup([kept])
    # both sides stay where they are in memory, so one instance is all there is
    circumstances = answer.Circumstances(
        stopped_by=stopped_by,
        drift=intervals.drift([math.exp(ratio) for ratio in kept]),
        start=start,
        later=intervals.speedup([later]),
        alone_decides=True,
    )
    judged = answer.judge(speedup, None, circumstances, band)
    return Observation(
        ProgramTimes.of(first),
        ProgramTimes.of(second),
        speedup=speedup.estimate,
        low=speedup.low,
        high=speedup.high,
        outcome=judged.outcome,
        reason=judged.reason,
        stopped_by=stopped_by,
    )
