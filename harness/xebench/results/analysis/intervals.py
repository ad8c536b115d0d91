"""95 % intervals of medians and of their ratios.

One interval serves everywhere: the interpolated order-statistic interval of a median (Hettmansperger and Sheather
1986), widened for autocorrelation. It is what the percentile bootstrap of a median approximates (Efron 1982, section
10.3, gives the bootstrap in the same order statistics), with the right ranks for few samples and nothing drawn at
random: the same samples give the same interval, in about 0.1 ms, from six samples on (the range of five covers
93.75 %).

Within an instance the speed-up is taken **over blocks**: in each block the ratio of the two sides' medians, then the
median of these ratios. How often its interval covers the true ratio, in percent, by
``python -m tools.studies.intervals`` (1000 synthetic families each, standard error 0.7; 95 is wanted):

    blocks                         7    10    20    30    60
    lognormal 1 %               96.0  97.3  96.1  96.6  95.7
    15 % of samples delayed     96.3  95.7  95.5  96.3  95.3
    one side delayed            96.4  96.4  96.5  96.2  96.0
    two modes, 10 % apart       96.8  96.0  96.1  96.1  94.9
    load that wanders           96.3  97.0  96.5  96.2  94.4
    drift of 20 %               96.0  97.3  96.1  96.6  95.7
    ratio correlated, 0.3       90.6  92.8  95.0  94.9  95.1

What was tried beside it, on the same families (lowest to highest coverage at 7 blocks; at 60 blocks):

    bootstrap of the ratio of medians    84 to  94;   91 to 100
    bootstrap of the median of ratios    77 to  88;   90 to  96
    stationary bootstrap                 73 to  88;   90 to  94
    signed ranks (Hodges-Lehmann)        91 to  98;   76 to  95

- The ratio of the two overall medians does not use that both sides of a block see the same load: where the load
  wanders or drifts it covers 100 %, up to 3.5 times as wide. (It is up to half as wide with few blocks of which many
  have a spike on one side; several samples a block and side do the same here.)
- The percentile bootstrap of the median of ratios is too narrow for few blocks, and the stationary bootstrap (Politis
  and Romano 1994), which is meant for autocorrelation, more so. Hence the widening by the autocorrelation of ranks;
  on independent blocks it costs 5 to 25 % of width.
- Signed ranks are narrower for normal noise, but wrong where only one side has delays.

What stays the same in all blocks is in none of these intervals. Where a family's arrays and the code of its kernels
lie in memory makes equal kernels differ by up to 20 % on a CPU device, for as long as they lie there; so they are
made again several times, and the interval is taken over these instances (`grouped_interval`). What the quantum of a
coarse timer hides is added (`blurred`).

A rule that stops when the interval is narrow prefers samples that look quieter than they are. With a precision of 1 %
the intervals at the stop covered 94 to 97 % of the ratios when an instance alone took 32 blocks at least
(`xebench.measuring.sampling`), and 92 to 97 % when it took ten (400 families each, seven kinds of noise).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from xebench.results.analysis.statistics import Floats, series, variance_inflation

#: Fewest samples for an interval: the range of fewer covers the median in less than 95 % of cases.
MIN_SAMPLES: Final = 6

#: Fewest samples of a group that counts: the median of fewer follows every outlier.
MIN_GROUP: Final = 3

CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval.

    Attributes:
        estimate: The estimate; NaN without samples.
        low: Lower end; NaN when there are too few samples for an interval.
        high: Upper end; NaN when there are too few samples for an interval.
        n: Samples (or blocks) behind it; of two series the shorter.
        groups: Groups of them whose differences the interval holds (`grouped_interval`).
    """

    estimate: float
    low: float
    high: float
    n: int
    groups: int = 1

    @property
    def known(self) -> bool:
        """True if there were enough samples for an interval."""
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
    from scipy import special  # slow to import, and a finished run is read without it

    z = special.ndtri((1 + CONFIDENCE) / 2) * math.sqrt(variance_inflation(array))
    low, high = _order_statistic_interval(np.sort(array), 2 * float(special.ndtr(-z)))
    return Interval(estimate, low, high, array.size)


def grouped_interval(groups: Sequence[ArrayLike]) -> Interval:
    """Mean over groups of their medians, and its 95 % interval from how much these differ.

    Groups are repetitions of a measurement under circumstances that stay the same within one of them, such as where
    arrays and code lie in memory: more samples of one group say nothing of the next (Kalibera and Jones 2013,
    "Rigorous benchmarking in reasonable time"). The interval is Student's over the medians (1908). One group alone
    has `median_interval`.

    Args:
        groups: Samples of each, in the order of measurement. Those of fewer than `MIN_GROUP` do not count, unless
            all are so short; then those do that are as long as the longest.
    """
    counted = counted_groups(groups)
    if len(counted) < 2:
        return median_interval(counted[0] if counted else ())
    medians = np.array([np.median(array) for array in counted])
    spread = float(medians.std(ddof=1)) / math.sqrt(medians.size)
    half = student_factor(medians.size - 1) * spread
    mean = float(medians.mean())
    return Interval(mean, mean - half, mean + half, sum(array.size for array in counted), medians.size)


def student_factor(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Half of an interval over the standard error, by Student's distribution with so many degrees of freedom."""
    from scipy import special

    return float(special.stdtrit(freedom, (1 + confidence) / 2))


def counted_groups(groups: Sequence[ArrayLike]) -> list[Floats]:
    """The groups that `grouped_interval` is of, in their order."""
    arrays = [series(group) for group in groups]
    least = min(MIN_GROUP, max((array.size for array in arrays), default=0))
    return [array for array in arrays if array.size and array.size >= least]


def by_instance(values: ArrayLike, instances: ArrayLike | None = None) -> list[Floats]:
    """A series cut into those of its instances, in the order of their numbers.

    Args:
        values: The series.
        instances: Number of the instance that each value is of; None: all of one.
    """
    array = series(values)
    labels = np.zeros(array.size) if instances is None else np.asarray(instances)
    return [array[labels == label] for label in np.unique(labels)]


def typical_time(times: ArrayLike, instances: ArrayLike | None = None) -> Interval:
    """Median of all times, and its 95 % interval over instances, of one alone over its times.

    The interval of several is that of `grouped_interval` on the logarithmic scale. Its middle is the mean of the
    instances, each of which counts the same; the median of all times follows those that have more samples, so the
    interval reaches as far as that median where it would not.

    Args:
        times: Times > 0 in the order of measurement.
        instances: Number of the instance that each is of; None: all of one.

    Raises:
        ValueError: A time is not positive.
    """
    array = series(times)
    groups = by_instance(_log(array), instances)
    if len(groups) < 2:
        return median_interval(array)
    return _reaching(_exp(grouped_interval(groups)), float(np.median(array)))


def blurred(interval: Interval, quantum: float) -> Interval:
    """The interval of a ratio, wider by an error that every measurement of it shares.

    The two are independent, so their distances from the estimate are squared and added on the logarithmic scale (as
    in `independent_ratio`): an error that is small beside the interval hardly widens it.

    Args:
        interval: Interval of the ratio.
        quantum: The error as a relative size, such as that of a timer's quantum.
    """
    error = math.log1p(quantum)
    low, high = (math.hypot(math.log(end / interval.estimate), error) for end in (interval.low, interval.high))
    return replace(interval, low=interval.estimate * math.exp(-low), high=interval.estimate * math.exp(high))


def speedup(ratios: Sequence[ArrayLike]) -> Interval:
    """Speed-up of a variant over its baseline, with its interval.

    Of one instance the median over the blocks, of several the mean of their medians (`grouped_interval`), on the
    logarithmic scale.

    Args:
        ratios: log speed-up of each block, by instance.
    """
    return _exp(grouped_interval(ratios))


def log_ratios(baseline: ArrayLike, variant: ArrayLike) -> Floats:
    """log(baseline / variant) for each block.

    Args:
        baseline: time of the baseline in each block (its median in the block), > 0.
        variant: time of the variant in the same blocks.

    Raises:
        ValueError: The lengths differ or a time is not positive.
    """
    above, below = _log(baseline), _log(variant)
    if above.size != below.size:
        raise ValueError("both sides must have a time in every block")
    return above - below


def independent_ratio(
    before: ArrayLike,
    after: ArrayLike,
    before_instances: ArrayLike | None = None,
    after_instances: ArrayLike | None = None,
) -> Interval:
    """Ratio of medians before / after of two series that share no blocks, with its interval.

    The two intervals are combined on the logarithmic scale by the square-and-add rule (MOVER; Zou and Donner 2008,
    "Construction of confidence limits about effect measures"), which takes their skewness along. It sees the noise
    within each series, and what differs between its instances; what differs from one run to another beside that is
    not in it. As in `typical_time` the ratio is that of all times, and the interval reaches as far as that.

    Args:
        before: Times > 0 in the order of measurement.
        after: The other times.
        before_instances: Number of the instance that each time before is of; None: all of one.
        after_instances: The same for the times after.

    Raises:
        ValueError: A time is not positive.
    """
    above, below = by_instance(_log(before), before_instances), by_instance(_log(after), after_instances)
    ratio = _exp(_difference(grouped_interval(above), grouped_interval(below)))
    if len(above) < 2 and len(below) < 2:
        return ratio
    return _reaching(ratio, float(np.median(series(before)) / np.median(series(after))))


def quotient(above: Interval, below: Interval) -> Interval:
    """Ratio of two independent ratios that have intervals, by the same rule.

    Args:
        above: Ratio > 0.
        below: Ratio > 0.
    """
    logs = (
        replace(each, estimate=math.log(each.estimate), low=math.log(each.low), high=math.log(each.high))
        for each in (above, below)
    )
    return _exp(_difference(*logs))


def drift(values: ArrayLike, instances: ArrayLike | None = None) -> Interval:
    """Second half of a series relative to the first half: 1 without drift.

    Of one instance the ratio of the halves' medians as `independent_ratio` has it; it excludes 1 when the drift is
    more than noise. The middle sample of an odd number belongs to the second half.

    Of several it is the later half of the instances against the earlier one: what differs between any two instances
    is no drift. With fewer than four the two cannot be distinguished, and the drift is unknown.

    Args:
        values: Times or ratios > 0 in the order of measurement.
        instances: Number of the instance that each is of, rising; None: all of one.

    Raises:
        ValueError: A value is not positive.
    """
    groups = counted_groups(by_instance(_log(values), instances))
    if len(groups) < 2:
        array = groups[0] if groups else np.empty(0)
        half = array.size // 2
        return _exp(_difference(median_interval(array[half:]), median_interval(array[:half])))
    half = len(groups) // 2
    if half < 2:
        return UNKNOWN
    return _exp(_difference(grouped_interval(groups[half:]), grouped_interval(groups[:half])))


def _difference(above: Interval, below: Interval) -> Interval:
    """Difference of two independent estimates, by the square-and-add rule."""
    estimate = above.estimate - below.estimate
    low = estimate - math.hypot(above.estimate - above.low, below.high - below.estimate)
    high = estimate + math.hypot(above.high - above.estimate, below.estimate - below.low)
    return Interval(estimate, low, high, min(above.n, below.n), min(above.groups, below.groups))


def _reaching(interval: Interval, shown: float) -> Interval:
    """The interval with another estimate, and as far as that."""
    if not interval.known:
        return replace(interval, estimate=shown)
    return replace(interval, estimate=shown, low=min(interval.low, shown), high=max(interval.high, shown))


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
    from scipy import special

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
    estimate, low, high = (math.exp(value) for value in (interval.estimate, interval.low, interval.high))
    return Interval(estimate, low, high, interval.n, interval.groups)
