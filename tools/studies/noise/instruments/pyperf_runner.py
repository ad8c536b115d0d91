"""pyperf: its runner in worker mode, which measures warm-ups and values of many loops each.

pyperf by itself starts 20 processes for each side, which takes minutes with a stack that needs seconds to import. Here
the study's own process is the one worker of both sides. In return little time goes into calibration: the number of
loops is given, and there are more values for pyperf's t-test than the three that a process takes by default.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import statistics
import time
from typing import Any, Final

from tools.studies.noise.instruments.observation import Observation, Program, ProgramTimes
from xebench.errors import BrokenEnvironment

VALUES: Final = 20
WARMUPS: Final = 1
CALIBRATION_CALLS: Final = 11


class Pyperf:
    """pyperf's runner; it allows one in a process.

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
        return read(self._measure(first), self._measure(second))

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


def read(first: Any, second: Any) -> Observation:
    """The statistics of two ``pyperf.Benchmark``; each value is the mean of its loops."""
    before, after = (ProgramTimes.of([1e9 * value for value in side.get_values()]) for side in (first, second))
    return Observation(before, after)


def _package() -> Any:
    try:
        return importlib.import_module("pyperf")
    except ImportError as error:
        raise BrokenEnvironment("the study needs pyperf: run make install") from error
