"""How often an interval of the speed-up covers a ratio that is known: simulation on synthetic noise.

``python -m tools.studies.intervals`` prints what the docstring of `xebench.tables.analysis.intervals` rests on.
The two sides of every synthetic family have the same median, so the true log ratio is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import stats

from tools.studies.intervals import bootstrap
from xebench.measuring.sampling import stopping
from xebench.measuring.sampling.limits import Sampling
from xebench.tables.analysis.intervals import median_interval
from xebench.tables.analysis.statistics import Floats

Sides = tuple[Floats, Floats]
Side = Callable[[np.random.Generator, int], Floats]
Noise = Callable[[np.random.Generator, int], Sides]
Estimator = Callable[[Floats, Floats, np.random.Generator], tuple[float, float]]


@dataclass(frozen=True)
class Coverage:
    """What repeated families gave.

    Attributes:
        covered: Share of intervals that hold the true ratio; 0.95 is wanted.
        half_width: Mean half-width of the log interval.
        blocks: Mean number of blocks.
    """

    covered: float
    half_width: float
    blocks: float


def order_statistics(log_baseline: Floats, log_variant: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """The interval in use (`xebench.tables.analysis.intervals.speedup`) on the logarithmic scale; draws nothing."""
    del generator
    interval = median_interval(log_baseline - log_variant)
    return interval.low, interval.high


def signed_ranks(log_baseline: Floats, log_variant: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """Hodges-Lehmann interval of the blocks' log ratios: inverted signed-rank test, normal approximation."""
    del generator
    ratios = log_baseline - log_variant
    n = ratios.size
    averages = np.sort((ratios[:, None] + ratios)[np.triu_indices(n)] / 2)
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    rank = max(0, math.floor(n * (n + 1) / 4 - 0.5 - stats.norm.ppf(0.975) * spread))
    return float(averages[rank]), float(averages[-1 - rank])


ESTIMATORS: Final[Mapping[str, Estimator]] = {
    "order statistics, in use": order_statistics,
    "bootstrap, ratio of medians": bootstrap.ratio_of_medians,
    "bootstrap, median of ratios": bootstrap.median_of_ratios,
    "stationary bootstrap": bootstrap.stationary,
    "signed ranks": signed_ranks,
}


def _twice(side: Side) -> Noise:
    """Both sides of one kind, each drawn for itself."""
    return lambda generator, blocks: (side(generator, blocks), side(generator, blocks))


def _under(load: Side) -> Noise:
    """Both sides under one load."""

    def sides(generator: np.random.Generator, blocks: int) -> Sides:
        shared = load(generator, blocks)
        return shared + generator.normal(0, 0.005, blocks), shared + generator.normal(0, 0.005, blocks)

    return sides


def _delayed(generator: np.random.Generator, blocks: int) -> Floats:
    hit = generator.random(blocks) < 0.15
    return generator.normal(0, 0.005, blocks) + hit * generator.exponential(0.3, blocks)


def _slower_at_times(generator: np.random.Generator, blocks: int) -> Floats:
    return generator.normal(0, 0.003, blocks) + 0.1 * (generator.random(blocks) < 0.25)


def _one_sided(generator: np.random.Generator, blocks: int) -> Sides:
    delayed = generator.exponential(0.05, blocks) - 0.05 * math.log(2)
    return delayed, generator.normal(0, 0.002, blocks)


def _autoregression(generator: np.random.Generator, blocks: int, memory: float) -> Floats:
    values = generator.normal(0, 1, blocks)
    for index in range(1, blocks):
        values[index] = memory * values[index - 1] + math.sqrt(1 - memory**2) * values[index]
    return values


NOISES: Final[Mapping[str, Noise]] = {
    "lognormal 1 %": _twice(lambda generator, n: generator.normal(0, 0.01, n)),
    "15 % of samples delayed": _twice(_delayed),
    "one side delayed": _one_sided,
    "two modes, 10 % apart": _twice(_slower_at_times),
    "load that wanders": _under(lambda generator, n: 0.1 * _autoregression(generator, n, 0.8)),
    "drift of 20 %": _under(lambda generator, n: np.linspace(0, 0.2, n)),
    "ratio correlated, 0.3": _twice(lambda generator, n: 0.01 * _autoregression(generator, n, 0.3)),
}


def coverage(estimator: Estimator, noise: Noise, *, blocks: int, repeats: int, seed: int) -> Coverage:
    """Coverage of ``estimator`` over ``repeats`` families of ``blocks`` blocks each."""
    generator = np.random.default_rng(seed)
    ends = np.array([estimator(*noise(generator, blocks), generator) for _ in range(repeats)])
    return _summarise(ends, blocks)


def coverage_when_stopping(noise: Noise, limits: Sampling, *, repeats: int, seed: int) -> Coverage:
    """Coverage of the interval in use when `xebench.measuring.sampling.stopping` decides after each block."""
    generator = np.random.default_rng(seed)
    ends, used = np.empty((repeats, 2)), np.empty(repeats)
    for repeat in range(repeats):
        baseline, variant = noise(generator, limits.max_blocks)
        ratios = baseline - variant
        blocks = 1
        while _sampled_on(ratios[:blocks], limits):
            blocks += 1
        interval = median_interval(ratios[:blocks])
        ends[repeat], used[repeat] = (interval.low, interval.high), blocks
    return _summarise(ends, float(used.mean()))


def _sampled_on(ratios: Floats, limits: Sampling) -> bool:
    sides = {"baseline": np.ones_like(ratios).tolist(), "variant": np.exp(-ratios).tolist()}
    return stopping.decide(sides, 0, baseline="baseline", sampling=limits) is None


def _summarise(ends: Floats, blocks: float) -> Coverage:
    covered = (ends[:, 0] <= 0) & (ends[:, 1] >= 0)
    return Coverage(float(covered.mean()), float(np.diff(ends).mean() / 2), blocks)
