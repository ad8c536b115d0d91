"""Bootstrap intervals of a speed-up over blocks: what `xebench.tables.analysis.intervals` is held against.

`tools.studies.intervals.interval_coverage` measures how often each of them, and the interval in use, covers a ratio
that is known. All of them are deterministic with a given generator.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from xebench.tables.analysis.statistics import Floats

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
