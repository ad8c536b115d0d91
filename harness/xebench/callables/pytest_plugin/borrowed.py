"""Names of pytest-benchmark that it does not promise, all of them here: a later version may lack some."""

from __future__ import annotations

import copy
import importlib.metadata
from collections.abc import Callable
from typing import Any, Final

from xebench.errors import XebenchError

#: Attributes of its fixture: the timer; the resolution of timers, by timer; seconds for a test; its use so far.
NAMES: Final = ("_timer", "_precisions", "_max_time", "_mode")

#: The oldest and the newest version that the plugin's tests have passed with.
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
    """Have it not warn that it was not used where the second fixture of the test was."""
    benchmark._mode = benchmark._mode or second._mode


def set_timer(benchmark: Any, timer: Callable[[], float], resolution_s: float | None = None) -> None:
    """Have it read another timer.

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
