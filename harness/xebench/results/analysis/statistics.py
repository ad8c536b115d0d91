"""Robust descriptions of a series of times, each with its source, and where its slow start ends.

No statistic drops a sample.

Series are 1-D, finite, and in the order in which they were measured.

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
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: Modified z-score above which a sample counts as an outlier (Iglewicz and Hoaglin 1993).
OUTLIER_SCORE: Final = 3.5

#: Lag-1 autocorrelations are capped here: a series above it carries hardly any information.
MAX_AUTOCORRELATION: Final = 0.9

#: Decimals of logarithms of times that are compared, so that rounding does not order ties.
_TIE_DIGITS: Final = 12


def series(values: ArrayLike) -> Floats:
    """``values`` as a 1-D float array.

    Raises:
        ValueError: They are not 1-D or not all finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError("a series must be one-dimensional and finite")
    return array


def modified_z_scores(values: ArrayLike) -> Floats:
    """0.6745 (x - median) / MAD of each sample (Iglewicz and Hoaglin 1993, "Detect and Handle Outliers").

    When more than half of the samples are equal the MAD is 0; the mean absolute deviation takes its place,
    scaled to agree for normal noise. When all are equal the scores are 0.
    """
    array = series(values)
    if not array.size:
        return array
    deviations = array - np.median(array)
    scale = float(np.median(np.abs(deviations))) / 0.6745
    if scale == 0:
        scale = float(np.mean(np.abs(deviations))) * 1.2533
    return deviations / scale if scale else np.zeros_like(array)


def outliers(values: ArrayLike) -> int:
    """The number of samples whose modified z-score exceeds `OUTLIER_SCORE` in size."""
    return int(np.count_nonzero(np.abs(modified_z_scores(values)) > OUTLIER_SCORE))


def autocorrelation(values: ArrayLike) -> float:
    """Lag-1 autocorrelation of the ranks of ``values``, corrected for its bias in short series.

    Ranks, because one spike would hide the correlation of all other samples. The estimate of a short series
    is too low by about (1 + 3 r) / n (Kendall 1954, "Note on Bias in the Estimation of Autocorrelation"),
    which is added.

    Returns:
        The estimate within -0.9 to 0.9; 0 with fewer than three samples or when all are equal.
    """
    array = series(values)
    if array.size < 3:
        return 0.0
    # equal samples share the mean of their ranks
    _, group, sizes = np.unique(np.round(array, _TIE_DIGITS), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[group] - (array.size + 1) / 2
    spread = float(ranks @ ranks)
    if spread == 0:
        return 0.0
    estimate = float(ranks[1:] @ ranks[:-1]) / spread
    corrected = estimate + (1 + 3 * estimate) / array.size
    return min(max(corrected, -MAX_AUTOCORRELATION), MAX_AUTOCORRELATION)


def variance_inflation(values: ArrayLike) -> float:
    """The variance of a location estimate divided by that for independent samples; at least 1.

    (1 + r) / (1 - r) for lag-1 autocorrelation r, as for a first-order autoregression (Bayley and Hammersley
    1946, "The Effective Number of Independent Observations"). Negative correlation would make it smaller;
    that is not believed.
    """
    correlation = max(autocorrelation(values), 0.0)
    return (1 + correlation) / (1 - correlation)


#: Smallest relative change of level that counts.
NOTABLE: Final = 0.02

#: Significance level: a run has thousands of instances, and each false change discards samples.
SIGNIFICANCE: Final = 0.005

#: Fewest values that can reach that level.
FEWEST: Final = 16


@dataclass(frozen=True)
class SeriesStart:
    """The start of a series, and whether it is over.

    Attributes:
        length: number of values before the last change of level; 0 without a change.
        over: True if at least `AFTER` times as many values follow. If False, the level may change again.
    """

    length: int
    over: bool


#: A start is over when this many values follow for each value in it.
AFTER: Final = 2

#: Start-up phases may differ by at most this factor between instances; larger differences are noise.
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


def settled(values: ArrayLike, start: SeriesStart | None = None) -> Floats:
    """A series after its start, which is looked for if it is not given; the whole of one whose start is not over."""
    start, array = start or start_of(values), series(values)
    return array[start.length :] if start.over else array


def start_of_instances(instances: Sequence[tuple[ArrayLike, Floats]]) -> SeriesStart:
    """The slow start that the instances of a pair share.

    It counts if more than half of the instances that can show one have it, at similar lengths: those that were sampled
    before its end and long enough after it. A start in a single instance may be the machine's doing, so it counts only
    if the others lose little by it. If more than half of the instances that are long enough still drift at their end,
    the result has ``over=False``.

    Args:
        instances: series of each instance, with the position of each value in the instance, warm-up included.
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
