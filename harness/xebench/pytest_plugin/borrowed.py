"""The parts of pytest-benchmark that the plugin uses: names that it does not promise, its timer, stored benchmarks.

A later version may lack some of the names, so that all of them are here.
"""

from __future__ import annotations

import copy
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from xebench.errors import XebenchError

#: Attributes of its fixture: the timer; the resolution of timers, by timer; seconds for a test; its use so far.
NAMES: Final = ("_timer", "_precisions", "_max_time", "_mode")

#: The oldest and the newest tested version.
TESTED: Final = ("4.0.0", "5.3.1")


def check(benchmark: Any) -> None:
    """See that the names are there.

    Raises:
        XebenchError: some are not.
    """
    if missing := [name for name in NAMES if not hasattr(benchmark, name)]:
        version = importlib.metadata.version("pytest-benchmark")
        raise XebenchError(
            f"pytest-benchmark {version} has no {', '.join(missing)}, by which xebench gives it the device's clock: "
            f"install a version from {TESTED[0]} to {TESTED[1]}"
        )


def second(benchmark: Any) -> Any:
    """Another fixture of the same test, with settings and results of its own.

    Args:
        benchmark: the fixture, not used yet.

    Raises:
        XebenchError: this version has none that can be given another timer.
    """
    check(benchmark)
    made = copy.copy(benchmark)
    made.extra_info = dict(benchmark.extra_info)
    return made


def count_as_used(benchmark: Any, second: Any) -> None:
    """Suppress its warning that it was not used, if the test has used the second fixture."""
    benchmark._mode = benchmark._mode or second._mode


def set_timer(benchmark: Any, timer: Callable[[], float], resolution_s: float | None = None) -> None:
    """Make it read another timer.

    Args:
        benchmark: the fixture.
        timer: seconds.
        resolution_s: its resolution; otherwise pytest-benchmark waits for it to advance by itself.

    Raises:
        XebenchError: this version cannot be given one.
    """
    check(benchmark)
    benchmark._timer = timer
    if resolution_s is not None:
        benchmark._precisions = {timer: resolution_s}


def max_time_s(benchmark: Any) -> float:
    """Seconds that a test may take (``--benchmark-max-time``)."""
    return float(benchmark._max_time)


def shorten(benchmark: Any, factor: float) -> None:
    """Make that a part of what it is."""
    benchmark._max_time *= factor


class DeviceClock:
    """Measured times so far, in seconds when it is read.

    Args:
        name: the timer's name in pytest-benchmark.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.ns = 0.0

    def __call__(self) -> float:
        return self.ns * 1e-9


def replay(benchmark: Any, clock: DeviceClock, times_ns: Sequence[float]) -> None:
    """Pass measured times to pytest-benchmark, one per round.

    Args:
        benchmark: pytest-benchmark's fixture, with `clock` as its timer.
        clock: advances by each time.
        times_ns: times in ns.
    """
    left = iter(times_ns)

    def advance() -> None:
        clock.ns += next(left)

    benchmark.pedantic(advance, rounds=len(times_ns), iterations=1)


#: The ``extra_info`` of stored benchmarks, by test.
STORED: Final[pytest.StashKey[dict[str, dict[str, Any]]]] = pytest.StashKey()


def refuse_other_device(request: pytest.FixtureRequest, fullname: str, device_class: str, name: str) -> None:
    """Fail the test if a stored benchmark of that name is of another device."""
    stored = request.config.stash[STORED].get(fullname, {})
    theirs, ours = (stored.get("device_class"), stored.get("device")), (device_class, name)
    if None not in theirs and theirs != ours:
        there, here = " ".join(map(str, theirs)), " ".join(ours)
        pytest.fail(
            f"the stored benchmark is of {there}, this one of {here}: times of two devices are not compared; "
            "choose the device with --xebench-device, or compare with another file",
            pytrace=False,
        )
