"""95 % intervals of medians and of their ratios.

One interval serves everywhere: the interpolated order-statistic interval of a median (Hettmansperger and Sheather
1986), widened for autocorrelation. The percentile bootstrap of a median has a closed form in the order
statistics (Efron 1982, section 10.3), so nothing is drawn at random: the same samples give the same interval,
in about 0.1 ms, from six samples on (the range of five covers only 93.75 %).

The speed-up is taken **over blocks**: in each block the ratio of the two sides' medians, then the median of
these ratios. Alternatives were measured with `harness.analysis.coverage` (coverage of the true ratio in percent; in
brackets the half-width relative to the chosen interval; 95 is wanted):

COVERAGE_TABLE

- The bootstrap of the ratio of the two overall medians does not use that both sides of a block see the same
  load. Where the load wanders it covers 100 % with up to four times the width.
- The percentile bootstrap of the block ratios' median, also with scipy, covers too little with few blocks, and
  the stationary bootstrap (Politis and Romano 1994), which is meant for autocorrelation, more so.
- Hodges-Lehmann (signed ranks) is narrower for normal noise, but wrong where one side only has delays.
- Widening by the lag-1 autocorrelation of ranks costs 5 to 25 % of width on independent blocks and holds where the
  ratio itself is autocorrelated, from about 20 blocks on; with 7 blocks nothing can.

A rule that stops when the interval is narrow stops early on samples that look quieter than they are. With at
least ten blocks the interval then still covers 93 to 97 % of independent ratios (`harness.analysis.stopping`).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness.analysis.statistics import Floats, series, variance_inflation

#: Fewest samples for an interval: the range of fewer covers the median in less than 95 % of cases.
MIN_SAMPLES: Final = 6

CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval.

    Attributes:
        estimate: The estimate; NaN without samples.
        low: Lower end; NaN when there are too few samples for an interval.
        high: Upper end, likewise.
        n: Samples (or blocks) behind it; of two series the shorter.
    """

    estimate: float
    low: float
    high: float
    n: int

    @property
    def known(self) -> bool:
        """Whether there were enough samples for an interval."""
        return not math.isnan(self.low)

    @property
    def half_width(self) -> float:
        """Half the distance of the two ends; infinite when they are unknown."""
        return (self.high - self.low) / 2 if self.known else math.inf


UNKNOWN: Final = Interval(math.nan, math.nan, math.nan, 0)


def median_interval(values: ArrayLike) -> Interval:
    """Median of a series and its 95 % interval, widened when neighbours are alike.

    Interpolated order statistics (Hettmansperger and Sheather 1986, "Confidence intervals based on
    interpolated order statistics"): distribution-free, at most the range of the samples. Autocorrelation
    widens it by the square root of `variance_inflation`, through the confidence that gives this width for
    normal noise.

    Args:
        values: Samples in the order of measurement, at least `MIN_SAMPLES` for an interval.
    """
    array = series(values)
    if not array.size:
        return UNKNOWN
    estimate = float(np.median(array))
    if array.size < MIN_SAMPLES:
        return Interval(estimate, math.nan, math.nan, array.size)
    z = special.ndtri((1 + CONFIDENCE) / 2) * math.sqrt(variance_inflation(array))
    low, high = _order_statistic_interval(np.sort(array), 2 * float(special.ndtr(-z)))
    return Interval(estimate, low, high, array.size)


def speedup(baseline: ArrayLike, variant: ArrayLike) -> Interval:
    """Speed-up of a variant over its baseline: median over blocks of baseline / variant, with its interval.

    Args:
        baseline: The baseline's time in each block (its median in the block), > 0, in the blocks' order.
        variant: The variant's, of the same blocks.

    Raises:
        ValueError: The lengths differ or a time is not positive.
    """
    return _exp(median_interval(log_ratios(baseline, variant)))


def log_ratios(baseline: ArrayLike, variant: ArrayLike) -> Floats:
    """log(baseline / variant) for each block; raises as `speedup` does."""
    above, below = _log(baseline), _log(variant)
    if above.size != below.size:
        raise ValueError("both sides must have a time in every block")
    return above - below


def independent_ratio(before: ArrayLike, after: ArrayLike) -> Interval:
    """Ratio of medians before / after of two series that share no blocks, with its interval.

    The two medians' intervals are combined on the logarithmic scale by the square-and-add rule (MOVER; Zou
    and Donner 2008, "Construction of confidence limits about effect measures"), which takes their skewness
    along. It sees the noise within each series only: what differs from one run to another is not in it.

    Args:
        before: Times > 0 in the order of measurement.
        after: The other times.

    Raises:
        ValueError: A time is not positive.
    """
    above, below = median_interval(_log(before)), median_interval(_log(after))
    estimate = above.estimate - below.estimate
    low = estimate - math.hypot(above.estimate - above.low, below.high - below.estimate)
    high = estimate + math.hypot(above.high - above.estimate, below.estimate - below.low)
    return _exp(Interval(estimate, low, high, min(above.n, below.n)))


def drift(values: ArrayLike) -> Interval:
    """Median of the second half of a series relative to the first half: 1 without drift.

    The interval is that of `independent_ratio`; it excludes 1 when the drift is more than noise. The middle
    sample of an odd number belongs to the second half.

    Args:
        values: Times > 0 in the order of measurement.
    """
    array = series(values)
    half = array.size // 2
    return independent_ratio(array[half:], array[:half])


def _order_statistic_interval(ordered: Floats, tail: float) -> tuple[float, float]:
    rank, weight = _rank(ordered.size, tail)
    if rank == 0:
        return float(ordered[0]), float(ordered[-1])
    low = ordered[rank - 1] + weight * (ordered[rank] - ordered[rank - 1])
    high = ordered[-rank] - weight * (ordered[-rank] - ordered[-rank - 1])
    return float(low), float(high)


@functools.lru_cache(maxsize=4096)
def _rank(n: int, tail: float) -> tuple[int, float]:
    """Rank of the lower end (from 1) and its neighbour's weight; rank 0 when even the range covers too little."""
    ranks = np.arange(1, n // 2 + 1)
    missed = 2 * special.bdtr(ranks - 1, n, 0.5)
    rank = int(np.searchsorted(missed, tail, side="right"))
    if rank in (0, ranks.size):
        return rank, 0.0
    share = (tail - missed[rank - 1]) / (missed[rank] - missed[rank - 1])
    return rank, float((n - rank) * share / (rank + (n - 2 * rank) * share))


def _log(values: ArrayLike) -> Floats:
    array = series(values)
    if (array <= 0).any():
        raise ValueError("times must be positive")
    return np.log(array)


def _exp(interval: Interval) -> Interval:
    return Interval(math.exp(interval.estimate), math.exp(interval.low), math.exp(interval.high), interval.n)
