"""The exactness of a timer, from its readings: its quantum, and how well times follow known lengths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Distance in ns up to which two durations may be of the same number of ticks: each is the difference of two times, and
#: may be rounded either way.
_ROUNDING_NS: Final = 2
#: Shortest tick in ns that is told from rounding.
_SHORTEST_TICK_NS: Final = 10


@dataclass(frozen=True)
class Linearity:
    """How well times follow a straight line: R squared, and the largest distance relative to the time."""

    r2: float
    residual: float


def linearity(lengths: ArrayLike, times_ns: ArrayLike) -> Linearity:
    """Least squares of a straight line through times over lengths."""
    x, y = np.asarray(lengths, float), np.asarray(times_ns, float)
    distances = y - np.polyval(np.polyfit(x, y, 1), x)
    spread = float(((y - y.mean()) ** 2).sum())
    r2 = 1 - float((distances**2).sum()) / spread if spread else 0.0
    return Linearity(r2, float(np.abs(distances / y).max()))


def timer_quantum(durations_ns: Iterable[int]) -> float | None:
    """The smallest difference between two of these durations that is not 0; None when all are equal.

    A timer whose tick is no whole number of ns, such as 52.083 or 83.333, shows durations that differ by 1 ns where
    they are of as many ticks. When all differences are multiples of one tick but for that, it is the tick.
    """
    distinct = np.unique(np.fromiter(durations_ns, np.int64))
    steps = np.diff(distinct)
    if not steps.size:
        return None
    apart = steps[steps > _ROUNDING_NS]
    tick = _tick(distinct, float(apart.min())) if apart.size else None
    return float(steps.min()) if tick is None else tick


def _tick(distinct: NDArray[np.int64], step: float) -> float | None:
    """The longest tick of which all these are multiples apart but for rounding, two of them ``step``; None without."""
    steps = np.diff(distinct)
    for ticks in range(1, int(step / _SHORTEST_TICK_NS) + 1):
        counts = np.concatenate([[0], np.round(steps / _fitted(np.sort(steps), step / ticks)).cumsum()])
        tick, first = np.polyfit(counts, distinct, 1)
        if tick >= _SHORTEST_TICK_NS and np.abs(distinct - first - tick * counts).max() <= _ROUNDING_NS:
            return round(float(tick), 2)
    return None


def _fitted(steps: NDArray[np.int64], tick: float) -> float:
    """Refine a tick: each step, from the shortest on, improves it, and so the number of ticks in the next step."""
    products, squares = 0.0, 0.0
    for step in steps:
        count = round(step / tick)
        products, squares = products + count * step, squares + count * count
        tick = products / squares if squares else tick
    return tick
