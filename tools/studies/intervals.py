"""How often an interval of a speed-up covers a ratio that is known: ``python -m tools.studies.intervals``.

The interval in use (`xebench.results.analysis.intervals`) is held against bootstrap intervals, on synthetic noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import click
import numpy as np
from scipy import stats

from xebench.cli.output import run_program
from xebench.measuring import stopping
from xebench.measuring.sampling import Sampling
from xebench.results.analysis import speedups
from xebench.results.analysis.intervals import median_interval
from xebench.results.analysis.statistics import Floats
from xebench.vocabulary import StopReason

RESAMPLES = 2000


def ratio_of_medians(log_baseline: Floats, log_variant: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """Percentile bootstrap over blocks of the log ratio of the two sides' overall medians (Efron 1979)."""
    blocks = log_baseline.size
    drawn = generator.integers(0, blocks, (RESAMPLES, blocks))
    return _percentiles(np.median(log_baseline[drawn], axis=1) - np.median(log_variant[drawn], axis=1))


def median_of_ratios(log_baseline: Floats, log_variant: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """Percentile bootstrap of the median of the blocks' log ratios, by `scipy.stats.bootstrap`."""
    result = stats.bootstrap(
        (log_baseline - log_variant,),
        np.median,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=generator,
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def stationary(log_baseline: Floats, log_variant: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """Stationary bootstrap (Politis and Romano 1994) of the median of the blocks' log ratios.

    Runs of neighbouring blocks are drawn, of geometric length with mean n^(1/3); the series closes to a ring.
    """
    ratios = log_baseline - log_variant
    blocks = ratios.size
    begins = generator.random((RESAMPLES, blocks)) < blocks ** (-1 / 3)
    begins[:, 0] = True
    position = np.arange(blocks)
    begin = np.maximum.accumulate(np.where(begins, position, 0), axis=1)
    first = np.take_along_axis(generator.integers(0, blocks, (RESAMPLES, blocks)), begin, axis=1)
    return _percentiles(np.median(ratios[(first + position - begin) % blocks], axis=1))


def _percentiles(replicates: Floats) -> tuple[float, float]:
    low, high = np.quantile(replicates, (0.025, 0.975))
    return float(low), float(high)


Sides = tuple[Floats, Floats]
Side = Callable[[np.random.Generator, int], Floats]
Noise = Callable[[np.random.Generator, int], Sides]
Estimator = Callable[[Floats, Floats, np.random.Generator], tuple[float, float]]


@dataclass(frozen=True)
class Coverage:
    """The results of repeated families.

    Attributes:
        covered: Share of intervals that hold the true ratio; 0.95 is wanted.
        half_width: Mean half-width of the log interval.
        blocks: Mean number of blocks.
    """

    covered: float
    half_width: float
    blocks: float


def order_statistics(log_baseline: Floats, log_variant: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """The interval in use (`xebench.results.analysis.intervals.speedup`) on the logarithmic scale; draws nothing."""
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
    "bootstrap, ratio of medians": ratio_of_medians,
    "bootstrap, median of ratios": median_of_ratios,
    "stationary bootstrap": stationary,
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
    """Coverage of the interval in use when `decide` is asked after each block."""
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
    return decide(sides, 0, baseline="baseline", sampling=limits) is None


def decide(
    values: Mapping[str, Sequence[float]], elapsed_s: float, *, baseline: str, sampling: Sampling
) -> StopReason | None:
    """The reason to stop sampling an instance now, or None to take another block.

    Args:
        values: time of each variant in each block so far; NaN when there is none.
        elapsed_s: seconds spent so far.
        baseline: baseline of the speed-ups.
        sampling: limits of the sampling.

    Returns:
        precision if the interval of every log speed-up is narrow enough and has at least as many blocks as a first
        instance, else budget, else max blocks.
    """
    blocks = len(next(iter(values.values())))
    series = speedups.log_speedups(values, baseline).values()
    least = max(sampling.min_blocks, sampling.first_blocks)
    if blocks >= least and all(median_interval(own).half_width < sampling.precision for own in series):
        return StopReason.PRECISION
    return stopping.spent(blocks, elapsed_s, sampling)


def _summarise(ends: Floats, blocks: float) -> Coverage:
    covered = (ends[:, 0] <= 0) & (ends[:, 1] >= 0)
    return Coverage(float(covered.mean()), float(np.diff(ends).mean() / 2), blocks)


BLOCKS: Final = (7, 10, 15, 20, 30, 60)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--repeats", default=2000, show_default=True, help="Simulated comparisons for each figure.")
def main(repeats: int) -> None:
    """Print the tables: every estimator on every noise, and the interval in use under the stopping rule."""
    print(f"{'coverage in % (half-width in %)':56}" + "".join(f"{blocks:>14}" for blocks in BLOCKS))
    for noise_name, noise in NOISES.items():
        for name, estimator in ESTIMATORS.items():
            results = [coverage(estimator, noise, blocks=n, repeats=repeats, seed=n) for n in BLOCKS]
            cells = "".join(f"{100 * result.covered:7.1f} ({100 * result.half_width:4.2f})" for result in results)
            print(f"{noise_name:26}  {name:28}{cells}", flush=True)
    limits = Sampling(precision=0.01, budget_s=math.inf, max_blocks=200)
    for noise_name, noise in NOISES.items():
        result = coverage_when_stopping(noise, limits, repeats=repeats, seed=0)
        stopped = f"{100 * result.covered:.1f} after {result.blocks:.0f} blocks"
        print(f"{noise_name:26}  stopped at 1 %: {stopped}", flush=True)


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.intervals")
