"""Where the slow start of a series ends, and whether it is steady after that.

A program may need many executions until it runs as it will run from then on: a driver that gathers commands first, a
clock that rises, a cache that fills. Ten samples can lie wholly in such a start, and look as steady as any. So the
start is looked for with a test on a longer series: Pettitt's test for a change point (1979, "A non-parametric approach
to the change-point problem"), which is a rank test, so that outliers hardly matter. It is repeated on what comes after
the change, since a start may have several steps, and a slope is one step after the other.

Neighbours that are alike, as under load that comes and goes, look like changes. The statistic is therefore divided by
the `variance_inflation` of what is left of the series when the change is taken out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from xebench.tables.analysis.statistics import Floats, series, variance_inflation

#: Least part by which the level must change: a smaller change hardly matters.
NOTABLE: Final = 0.02

#: Of the test: a run has thousands of instances, and a change that is none costs samples of all that follow.
SIGNIFICANCE: Final = 0.005

#: Fewest values that can show a change at that level: fewer have no arrangement that is rare enough.
FEWEST: Final = 16


@dataclass(frozen=True)
class SeriesStart:
    """The start of a series, and whether it is over.

    Attributes:
        length: values until the last change of level; 0 where there is none.
        over: whether `AFTER` times as many values came after it. If not, the next change may be near.
    """

    length: int
    over: bool


#: Values after a start, for each one in it, that show that it is over.
AFTER: Final = 2

#: How many times as long as another one a start may be: what differs more is none of the program's.
ALIKE: Final = 2

NO_START: Final = SeriesStart(0, over=True)


def start_of(values: ArrayLike) -> SeriesStart:
    """The start of a series.

    Args:
        values: logarithms of times, or of their ratios, in the order of measurement.
    """
    array, length = series(values), 0
    while change := _first_change(array[length:]):
        length += change
    return SeriesStart(length, over=(1 + AFTER) * length <= array.size)


def settled(values: ArrayLike) -> Floats:
    """A series after its start; the whole of one whose start is not over."""
    start, array = start_of(values), series(values)
    return array[start.length :] if start.over else array


def start_of_instances(instances: Sequence[tuple[ArrayLike, Floats]]) -> SeriesStart:
    """The start that the instances of a pair have in common: the longest one, if more than half of the instances that
    were sampled before its end and long enough after it show one, and all are about as long. A start in a single
    instance may be the machine's doing, so it counts only if the others lose little by it.

    If there is none, and more than half of the instances that are long enough drift until their end, what is given is
    not over.

    Args:
        instances: for each its series, and at which place in the instance each value was measured, warm-up included.
    """
    own = [(start_of(values), places) for values, places in instances]
    ends = [int(places[start.length]) for start, places in own if start.length and start.over]
    end = max(ends, default=0)
    showing = sum(min((places < end).sum(), (places >= end).sum()) >= FEWEST / 4 for _, places in own)
    spared = all((places >= end).mean() > 1 / 2 for start, places in own if not start.length)
    if 2 * len(ends) > showing and end <= ALIKE * min(ends) and (len(ends) > 1 or spared):
        return SeriesStart(end, over=True)
    drifting = [int(places[start.length]) for start, places in own if not start.over]
    long = sum(places.size >= FEWEST for _, places in own)
    return SeriesStart(max(drifting), over=False) if 2 * len(drifting) > long else NO_START


def _first_change(array: Floats) -> int | None:
    """The change in the shortest part, from the beginning on, that shows one: a long part would hide a short start."""
    parts = FEWEST << np.arange(max(0, (array.size // FEWEST).bit_length()))
    return next((change for part in (*parts, array.size) if (change := _change(array[:part]))), None)


def _change(array: Floats) -> int | None:
    """The number of values before the change of level; None without a change, or for a small one."""
    if array.size < FEWEST:
        return None
    ordered = np.sort(array)
    ranks = ordered.searchsorted(array) + ordered.searchsorted(array, side="right")  # twice the mean rank, of ties too
    sums = np.cumsum(ranks - array.size)[:-1]
    at = int(np.abs(sums).argmax()) + 1
    if _chance(sums[at - 1] ** 2, array.size) >= SIGNIFICANCE:
        return None
    if abs(np.median(array[at:]) - np.median(array[:at])) <= math.log1p(NOTABLE):
        return None
    left = np.concatenate([_without_slope(part) for part in (ranks[:at], ranks[at:])])
    chance = _chance(sums[at - 1] ** 2 / variance_inflation(left), array.size)
    return at if chance < SIGNIFICANCE else None


def _without_slope(values: Floats) -> Floats:
    away = np.arange(values.size) - (values.size - 1) / 2
    slope = (away @ values) / max(float(away @ away), 1.0)
    return np.asarray(values - values.mean() - slope * away)


def _chance(squared: float, size: int) -> float:
    """An upper bound of the probability of Pettitt's squared statistic in a series of that size without a change."""
    return 2 * math.exp(-6 * squared / (size**3 + size**2))
