"""When a family's samples say enough: the stopping rule on the speed-ups of its variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.analysis import stopping
from harness.analysis.intervals import log_ratios
from harness.analysis.statistics import Floats
from harness.runner.sampler import Decide, Sampling


def stopping_rule(sampling: Sampling, baseline: str) -> Decide:
    """The rule of :mod:`harness.analysis.stopping` with these limits, for speed-ups over the variant ``baseline``."""
    limits = limits_of(sampling)

    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        blocks = len(next(iter(values.values())))
        series = log_speedups(values, baseline).values()
        return stopping.decide(series, blocks=blocks, elapsed_s=elapsed_s, limits=limits)

    return decide


def limits_of(sampling: Sampling) -> stopping.Limits:
    """What ends the sampling, for :mod:`harness.analysis.stopping`."""
    return stopping.Limits(sampling.precision, sampling.budget_s, sampling.max_blocks, sampling.min_blocks)


def log_speedups(values: Mapping[str, Sequence[float]], baseline: str) -> dict[str, Floats]:
    """The log speed-up of each variant in each block, by name, without blocks in which a side has no valid sample.

    Without a baseline, or with nothing beside it, the logarithms of the times.

    Args:
        values: time of each variant in each block; NaN or 0 when there is none.
        baseline: the variant that speed-ups are counted from.
    """
    series = {name: np.array(times, float) for name, times in values.items()}
    base = series.pop(baseline, None)
    if base is None or not series:
        alone = series if base is None else {baseline: base}
        return {name: np.log(times[times > 0]) for name, times in alone.items()}
    both = {name: (times, (base > 0) & (times > 0)) for name, times in series.items()}
    return {name: log_ratios(base[valid], times[valid]) for name, (times, valid) in both.items()}
