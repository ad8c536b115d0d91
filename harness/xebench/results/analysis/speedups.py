"""Log speed-ups from samples: for the stopping rule, the plan of a run, resuming, and the table `pairs`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xebench.results.analysis.intervals import log_ratios
from xebench.results.analysis.statistics import Floats

if TYPE_CHECKING:  # workers need no pandas
    import pandas as pd


def log_speedups(
    values: Mapping[str, Sequence[float] | Floats], baseline: str, compared: Iterable[tuple[str, str]] = ()
) -> dict[str, Floats]:
    """The log speed-up of each variant in each block, by name, without blocks in which a side has no valid sample.

    Without a baseline, or with nothing beside it, the logarithms of the times.

    Args:
        values: time of each variant in each block; NaN or 0 when there is none.
        baseline: baseline of the speed-ups.
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


def block_medians(samples: pd.DataFrame) -> pd.Series[float]:
    """The median time of each case in each block, by state, instance, case and block.

    Args:
        samples: samples that count (`xebench.results.analysis.summaries.usable`).
    """
    medians: pd.Series[float] = samples.groupby(["state", "instance", "case_id", "block"])["time_ns"].median()
    return medians


def speedups_of_instances(
    samples: pd.DataFrame, variants: Mapping[str, str], baseline: str, compared: Iterable[tuple[str, str]] = ()
) -> Iterator[tuple[str, int, dict[str, Floats]]]:
    """The log speed-ups of a family in each state and instance, as the stopping rule saw them.

    Args:
        samples: samples of the family that count.
        variants: names of the variants, by case.
        baseline, compared: see `log_speedups`.
    """
    compared, instances = list(compared), block_medians(samples).groupby(level=[0, 1])
    key: Any
    for key, own in instances:
        (state, number), times = key, own.droplevel([0, 1]).unstack("case_id").rename(columns=variants)
        by_name = {str(name): times[name].tolist() for name in times}
        yield str(state), int(number), log_speedups(by_name, baseline, compared)
