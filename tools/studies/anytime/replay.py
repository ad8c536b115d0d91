"""A run as it would have been if it had ended earlier: only its first samples, and what analysis makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from xebench.tables import Run, schema
from xebench.tables.analysis.pairs import pairs
from xebench.vocabulary import ANSWERED, Answer, Status, StopReason

#: Moments of the run that are looked at, the last one its end.
MOMENTS: Final = 10


@dataclass(frozen=True)
class Moment:
    """What a run knew when a part of it was over.

    Attributes:
        minutes: of the run.
        visited: families that have a sample.
        answered: claims that hold, invert or have no effect.
        undecided: claims that have samples, but no answer.
        half_width: median of the half-widths of all intervals, relative to the speed-up.
    """

    minutes: float
    visited: int
    answered: int
    undecided: int
    half_width: float


def moments(run: Run, minutes: float, count: int = MOMENTS) -> Iterator[Moment]:
    """The run after equal parts of its time.

    Samples have no time of day. The run's time is divided among its samples in their order by the host's time that
    each took, compilation included; what a family takes beside them is so spread over the run.

    Args:
        run: that is over.
        minutes: how long it took.
        count: of the moments.
    """
    samples = run.samples.sort_values("sample_id", kind="stable")
    seconds = (samples["host_ns"] * samples["batch"].fillna(1)).fillna(0).to_numpy(float).cumsum()
    for part in np.arange(1, count + 1) / count:
        early = samples[seconds <= part * seconds[-1]] if part < 1 else samples
        yield _moment(run, early, part * minutes)


def _moment(run: Run, samples: pd.DataFrame, minutes: float) -> Moment:
    found = schema.frame("pairs", pairs(_cases_then(run, samples), samples, run.devices, ()))
    claims = found[found["claim"].notna()]
    decided = claims["answer"].isin(ANSWERED) & (claims["answer"] != Answer.UNDECIDED)
    known = found[found["speedup_low"].notna()]
    widths = np.log(known["speedup_high"] / known["speedup_low"].to_numpy()) / 2
    seen = samples[samples["instance"].notna()]["case_id"].unique()
    return Moment(
        minutes,
        visited=run.cases.loc[run.cases["case_id"].isin(seen), "family_id"].nunique(),
        answered=int(decided.sum()),
        undecided=int((~decided & (claims["answer"] == Answer.UNDECIDED) & claims["speedup"].notna()).sum()),
        half_width=float(np.expm1(widths.astype(float)).median()),
    )


def _cases_then(run: Run, samples: pd.DataFrame) -> pd.DataFrame:
    """The cases as they were: one that was to be visited again had not stopped for its precision."""
    last = run.samples.groupby("case_id")["sample_id"].max()
    last_then = samples.groupby("case_id")["sample_id"].max().reindex(last.index)
    cut = run.cases["case_id"].isin(last[last_then.fillna(-1) < last].index) & (run.cases["status"] == Status.OK)
    return run.cases.assign(stopped_by=run.cases["stopped_by"].mask(cut, StopReason.PASS))
