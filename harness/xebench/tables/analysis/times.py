"""The samples that count, and the time of each by the metric of its case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from xebench.tables.analysis.rows import rows
from xebench.tables.analysis.statistics import Floats
from xebench.vocabulary import RESCUES, SAMPLED_STATES, Flag, Metric, State, metric_named


@dataclass(frozen=True)
class Series:
    """The times of a case in one state, in order.

    Attributes:
        time_ns: of each sample that counts.
        instances: instance of the family that each is of.
    """

    time_ns: Floats
    instances: Floats

    @classmethod
    def of(cls, samples: pd.DataFrame) -> Series:
        """Those of some rows of `usable`."""
        return cls(samples["time_ns"].to_numpy(), samples["instance"].to_numpy())


NONE: Final = Series(np.empty(0), np.empty(0))


def spoilt(cases: pd.DataFrame, samples: pd.DataFrame) -> dict[tuple[str, str], str]:
    """For each case and state with mostly invalid samples: the flag that spoilt them, and what to do.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
    """
    described = {row["case_id"]: row for row in rows(cases)}
    found: dict[tuple[str, str], str] = {}
    sampled = samples[samples["state"].isin(SAMPLED_STATES)]
    for key, own in sampled.groupby(["case_id", "state"]):
        case_id, state = map(str, key)
        lost = own.loc[~own["valid"].fillna(value=False).astype(bool), "sample_flags"]
        if 2 * len(lost) <= len(own):
            continue
        variant, metric = (str(described[case_id][name]) for name in ("variant", "metric"))
        counts = {flag: int(lost.str.split(",").map(lambda flags, flag=flag: flag in flags).sum()) for flag in Flag}
        flag = max((flag for flag in Flag if flag.invalidates(metric)), key=lambda flag: counts[flag])
        rests_on = metric_named(metric).rests_on
        rescue = next(rescue for evidence, rescue in RESCUES.items() if evidence in flag.spoils & rests_on)
        found[case_id, state] = (
            f"{counts[flag]} of {len(own)} samples of {variant} are flagged {flag!s} ({flag.meaning}): {rescue}"
        )
    return found


def counting_samples(samples: pd.DataFrame) -> pd.Series[bool]:
    """Mark the samples that count: their timestamps can be trusted, and a check of the results came after them."""
    return samples["valid"] & samples["checked"]


def usable(cases: pd.DataFrame, samples: pd.DataFrame) -> pd.DataFrame:
    """The samples in a measured state that count, in order, with the time of the case's metric in a column ``time_ns``.

    The column ``instance`` is 0 where a run knows no instances; ``place`` is how many samples of the case came before
    in the instance and state, warm-up included.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
    """
    metric = samples["case_id"].map(dict(zip(cases["case_id"], cases["metric"], strict=True)))
    times = pd.Series(pd.NA, index=samples.index, dtype="Float64")
    for word in Metric:
        times = times.mask(metric == word, samples[word.column])
    trusted = counting_samples(samples) & samples["state"].isin(SAMPLED_STATES) & (times > 0).fillna(False)
    instances = samples["instance"].astype("float64").fillna(0)
    described = samples.assign(time_ns=times.astype("float64"), instance=instances, place=_places(samples, instances))
    return described[trusted].sort_values("sample_id", kind="stable")


def _places(samples: pd.DataFrame, instances: pd.Series[float]) -> pd.Series[int]:
    sampled = samples[samples["state"].isin((State.WARMUP, *SAMPLED_STATES))].sort_values("sample_id", kind="stable")
    keys = [sampled["case_id"], instances.loc[sampled.index]]
    warming = sampled["state"] == State.WARMUP
    # each state has a warm-up of its own
    begins = warming & ~warming.groupby(keys).shift(fill_value=False)
    return sampled.groupby([*keys, begins.groupby(keys).cumsum()]).cumcount()


def states_of(samples: pd.DataFrame) -> dict[str, list[str]]:
    """The measured states in which each case has samples, whether they count or not, by case."""
    seen: dict[str, list[str]] = {}
    rows = samples.loc[samples["state"].isin(SAMPLED_STATES), ["case_id", "state"]].drop_duplicates()
    for case_id, state in rows.itertuples(index=False):
        seen.setdefault(case_id, []).append(state)
    return seen


def in_order(*states: Iterable[str]) -> Sequence[str | None]:
    """Those of `SAMPLED_STATES` that are in any of ``states``, or one None when none is."""
    present = {state for several in states for state in several}
    return [state for state in SAMPLED_STATES if state in present] or [None]
