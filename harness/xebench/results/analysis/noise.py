"""The noise of a run, by its own samples: how well it knows a speed-up."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median


def noise_of(intervals: Iterable[tuple[float | None, float | None]]) -> float:
    """The median half-width of a run's intervals, as a relative size, rounded up to one digit; 0 without intervals.

    Args:
        intervals: lower and upper ends of speed-ups; None or NaN where there is no interval.
    """
    known = [math.log(high / low) / 2 for low, high in intervals if low and high and math.isfinite(high / low)]
    size = math.expm1(median(known)) if known else 0.0
    if size <= 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(size))
    return round(math.ceil(size / unit) * unit, 9)
