"""The rule that stops sampling a family: precise enough, budget spent, or all blocks used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from xebench.measuring.sampling.limits import Sampling
from xebench.tables.analysis.intervals import grouped_interval, log_ratios, median_interval
from xebench.tables.analysis.statistics import Floats
from xebench.vocabulary import StopReason

#: Why one instance of a family was left though its speed-ups are not known yet: the next one begins.
NEXT_INSTANCE: Final = "next instance"


def narrow(groups: Iterable[Sequence[ArrayLike]], precision: float) -> bool:
    """True if the interval over instances of every series is narrower than a half-width.

    Args:
        groups: for each pair its log speed-ups, by instance.
        precision: the half-width.
    """
    return all(grouped_interval(instances).half_width < precision for instances in groups)


def decide(
    values: Mapping[str, Sequence[float]], elapsed_s: float, *, baseline: str, sampling: Sampling
) -> StopReason | None:
    """The reason to stop sampling an instance now, or None to take another block.

    Args:
        values: time of each variant in each block so far; NaN when there is none.
        elapsed_s: seconds spent so far.
        baseline: the variant that speed-ups are counted from.
        sampling: what ends it.

    Returns:
        precision when the interval of every log speed-up is narrow enough, of no fewer blocks than a first instance
        has, else budget, else max blocks.
    """
    blocks = len(next(iter(values.values())))
    series = log_speedups(values, baseline).values()
    least = max(sampling.min_blocks, sampling.first_blocks)
    if blocks >= least and all(median_interval(own).half_width < sampling.precision for own in series):
        return StopReason.PRECISION
    return spent(blocks, elapsed_s, sampling)


def spent(blocks: int, elapsed_s: float, sampling: Sampling) -> StopReason | None:
    """The reason to stop before the precision is reached: max blocks, else budget, which more time would mend; None to
    go on.
    """
    if blocks >= sampling.max_blocks:
        return StopReason.MAX_BLOCKS
    return StopReason.BUDGET if elapsed_s >= sampling.budget_s else None


def log_speedups(
    values: Mapping[str, Sequence[float]], baseline: str, compared: Iterable[tuple[str, str]] = ()
) -> dict[str, Floats]:
    """The log speed-up of each variant in each block, by name, without blocks in which a side has no valid sample.

    Without a baseline, or with nothing beside it, the logarithms of the times.

    Args:
        values: time of each variant in each block; NaN or 0 when there is none.
        baseline: the variant that speed-ups are counted from.
        compared: variants, each with another that it is compared with: named ``variant/other``.
    """
    times = {name: np.array(own, float) for name, own in values.items()}
    pairs = {name: (baseline, name) for name in times if baseline in times and name != baseline}
    pairs |= {f"{name}/{other}": (other, name) for name, other in compared if name in times and other in times}
    if not pairs:
        return {name: np.log(own[own > 0]) for name, own in times.items()}
    both = {name: (times[base], times[own]) for name, (base, own) in pairs.items()}
    valid = {name: (base > 0) & (own > 0) for name, (base, own) in both.items()}
    return {name: log_ratios(base[valid[name]], own[valid[name]]) for name, (base, own) in both.items()}
