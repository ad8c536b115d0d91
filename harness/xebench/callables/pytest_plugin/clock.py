"""The timer that pytest-benchmark reads: it stands still until measured times are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class DeviceClock:
    """Measured times so far, in seconds when it is read.

    Args:
        name: what pytest-benchmark calls the timer.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.ns = 0.0

    def __call__(self) -> float:
        return self.ns * 1e-9


def replay(benchmark: Any, clock: DeviceClock, times_ns: Sequence[float]) -> None:
    """Give pytest-benchmark times that were measured already, as its rounds; at least one.

    Args:
        benchmark: its fixture, whose timer is the clock.
        clock: advances by each time.
        times_ns: in ns.
    """
    left = iter(times_ns)

    def advance() -> None:
        clock.ns += next(left)

    benchmark.pedantic(advance, rounds=len(times_ns), iterations=1)
