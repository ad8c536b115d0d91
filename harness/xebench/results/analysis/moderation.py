"""Pool the variance between instances over all pairs of a run, for pairs with few (empirical Bayes, Smyth 2004).

Two or three instances say little of how much instances differ: Student's factor is 12.7 for two. But a run has many
pairs. Each pair's variance between instances is taken for a draw from a common distribution, a scaled inverse chi
squared, whose typical variance and degrees of freedom are estimated from the logarithms of all pairs' variances (Smyth
2004, "Linear models and empirical Bayes methods for assessing differential expression in microarray experiments",
section 6.2). A pair's moderated variance is the mean of its own and the typical one, weighted by degrees of freedom,
and Student's factor has the sum of both. Where pairs are alike the run knows much, and three instances are
enough; where some differ much and others do not, as on a CPU device, it knows next to nothing, and a pair needs as many
instances as it would alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from xebench.results.analysis.intervals import CONFIDENCE, Interval, student_factor
from xebench.results.analysis.statistics import Floats

#: Number of instances from which a pair is judged without the other pairs.
ENOUGH_INSTANCES: Final = 6

#: Fewest pairs that give a prior for the others.
FEWEST_PAIRS: Final = 10

#: Largest weight of the prior, in degrees of freedom, so that a pair that differs from all others still shows.
MOST_FREEDOM: Final = 10.0

#: The one-sided 95 % bound of how differently pairs behave, in standard errors.
CERTAINTY: Final = 1.645

#: Trigamma below which its argument counts as infinite.
SMALLEST_TRIGAMMA: Final = 1e-6

#: Half-width of a log speed-up's interval above which it is dropped: a factor of a thousand.
WIDEST: Final = math.log(1000)

#: Smallest difference between instances that counts, as a log speed-up.
LEAST_SPREAD: Final = 0.001


@dataclass(frozen=True)
class Prior:
    """The pooled variance between instances, as a prior for another pair.

    Attributes:
        variance: the typical one, of log speed-ups.
        freedom: degrees of freedom that it is worth; 0 when it says nothing.
    """

    variance: float = 0.0
    freedom: float = 0.0


#: The prior without any pair.
NOTHING: Final = Prior()


def prior_of(medians: Iterable[Sequence[float]]) -> Prior:
    """Pool the variances of these pairs.

    Args:
        medians: log speed-ups of each pair's instances; pairs with a single instance are ignored.
    """
    known = [np.asarray(one, float) for one in medians if len(one) > 1]
    if len(known) < FEWEST_PAIRS:
        return NOTHING
    from scipy import special  # slow to import, and few pairs are read without it

    half_freedom = np.array([(one.size - 1) / 2 for one in known])
    variances = np.maximum([one.var(ddof=1) for one in known], LEAST_SPREAD**2)
    # log of each variance, minus the mean of log chi squared at its degrees of freedom
    levels = np.log(variances) - special.digamma(half_freedom) + np.log(half_freedom)
    excess = _upper_variance(levels) - float(special.polygamma(1, half_freedom).mean())
    half = min(_inverse_trigamma(excess), MOST_FREEDOM / 2)
    return Prior(math.exp(levels.mean() + special.digamma(half) - math.log(half)), 2 * half)


def moderate(interval: Interval, prior: Prior) -> Interval:
    """The interval of a pair of few instances (`intervals.grouped_interval`), with the run's prior.

    Args:
        interval: Student's interval of log speed-ups over the instances; returned unchanged for one instance, and for
            `ENOUGH_INSTANCES` or more.
        prior: prior of the run's other pairs.
    """
    if not 1 < interval.groups < ENOUGH_INSTANCES or not prior.freedom:
        return interval
    return _with_prior(interval, prior, CONFIDENCE)


def _with_prior(interval: Interval, prior: Prior, confidence: float) -> Interval:
    own = interval.groups - 1
    own_variance = interval.groups * (interval.half_width / student_factor(own)) ** 2
    variance = (own * own_variance + prior.freedom * prior.variance) / (own + prior.freedom)
    half = student_factor(own + prior.freedom, confidence) * math.sqrt(variance / interval.groups)
    return replace(interval, low=interval.estimate - half, high=interval.estimate + half)


def moderated_speedup(speedup: Interval, prior: Prior) -> Interval:
    """`moderate` of an interval that is not of logarithms."""
    if not speedup.known:
        return speedup
    middle, low, high = (math.log(value) for value in (speedup.estimate, speedup.low, speedup.high))
    logs = moderate(replace(speedup, estimate=middle, low=low, high=high), prior)
    return replace(speedup, low=math.exp(logs.low), high=math.exp(logs.high))


def simultaneous_confidence(count: int) -> float:
    """The confidence of each of so many intervals that hold together in 95 % of runs (Bonferroni's inequality)."""
    return 1 - (1 - CONFIDENCE) / max(1, count)


def simultaneous(speedup: Interval, prior: Prior, count: int) -> Interval:
    """The interval of one of several speed-ups: in 95 % of runs all of the intervals contain their ratios.

    Each interval misses its ratio in at most 5 % / count of runs (Bonferroni's inequality, which needs no
    independence). Pairs of few instances are moderated by the others, as `moderate` says.

    Args:
        speedup: speed-up with the interval over its own instances.
        prior: prior of the run's other pairs.
        count: number of speed-ups that are compared together.

    Returns:
        An interval without ends if there is one instance, since the spread between instances is unknown,
        or if it would be wider than `WIDEST`.
    """
    unknown = replace(speedup, low=math.nan, high=math.nan)
    if speedup.groups < 2 or not speedup.known:
        return unknown
    middle, low, high = (math.log(value) for value in (speedup.estimate, speedup.low, speedup.high))
    own = NOTHING if speedup.groups >= ENOUGH_INSTANCES else prior
    logs = _with_prior(replace(speedup, estimate=middle, low=low, high=high), own, simultaneous_confidence(count))
    return unknown if logs.half_width > WIDEST else replace(speedup, low=math.exp(logs.low), high=math.exp(logs.high))


def _upper_variance(values: Floats) -> float:
    """Upper 95 % bound of the variance of a sample, from its fourth moment."""
    squares = (values - values.mean()) ** 2
    return float(squares.mean() + CERTAINTY * squares.std() / math.sqrt(values.size))


def _inverse_trigamma(value: float) -> float:
    """The argument at which trigamma has a value: it falls from infinity to 0; infinite for a value it never has."""
    from scipy import optimize, special

    if value < SMALLEST_TRIGAMMA:
        return math.inf
    return float(optimize.brentq(lambda x: float(special.polygamma(1, x)) - value, 1e-6, 2 / SMALLEST_TRIGAMMA))
