"""Which samples count: each once, and those that a check of their case's results speaks for.

A worker checks every variant again at the end of a pass. What was sampled in one that was cut off, by a signal, a
crash, a spent budget or a full disk, may be of a program that had begun to compute something else. So the table
`checks` is only ever added to, after the samples that a row speaks for: a row that is missing costs samples, and never
lets a wrong one count.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from xebench.errors import RunFolderError
from xebench.vocabulary import CheckResult, Flag, State

#: No two commands of a case have all of these in common: the device's clock goes on between two samples.
_MOMENT: Final = ("case_id", "sequence", "mpi_rank", "clock", "submit_ns", "start_ns", "end_ns")


def refuse_doubled_samples(folder: Path, samples: pd.DataFrame) -> None:
    """Refuse samples of one number.

    Raises:
        RunFolderError: names the first such number.
    """
    _refuse(folder, "samples", samples, samples["sample_id"].duplicated())


def refuse_doubled_events(folder: Path, events: pd.DataFrame, samples: pd.DataFrame) -> None:
    """Refuse events of two samples that were at the same time: one of the samples is a copy of the other.

    Samples that were found to have the times of an earlier one say so themselves, by the flag for that: a driver that
    gives one time again and again has also given it to a first one, which has no flag.

    Raises:
        RunFolderError: names the sample of the first such event.
    """
    stale = events["sample_id"].isin(samples.loc[samples["sample_flags"].str.contains(Flag.STALE), "sample_id"])
    timed = events[events["start_ns"].notna() & ~stale]
    doubled = timed.duplicated([*_MOMENT])
    if doubled.any() and stale.any():
        told = pd.MultiIndex.from_frame(events.loc[stale, [*_MOMENT]])
        doubled &= ~pd.MultiIndex.from_frame(timed[[*_MOMENT]]).isin(told)
    _refuse(folder, "events", timed, doubled)


def _refuse(folder: Path, table: str, data: pd.DataFrame, doubled: pd.Series[bool]) -> None:
    if doubled.any():
        number = data.loc[doubled, "sample_id"].iloc[0]
        raise RunFolderError(
            f"{folder} is damaged: its {table} have sample {number} twice: restore it from a copy of the run"
        )


class CheckRow(NamedTuple):
    """A row of the table `checks`; the columns are explained where they are declared, in `xebench.tables.columns`."""

    case_id: str
    first_sample: int
    end_sample: int
    result: CheckResult


def superseding(case_ids: Iterable[str], end_sample: int) -> list[CheckRow]:
    """Rows that make all earlier samples of these cases invalid, as the cases are measured again."""
    return [CheckRow(case_id, 0, end_sample, CheckResult.SUPERSEDED) for case_id in case_ids]


def with_checked(samples: pd.DataFrame, checks: pd.DataFrame) -> pd.DataFrame:
    """The measured table `samples` with its derived column ``checked``.

    Rows of compilation and traced executions need no check; those of an earlier session's code are superseded like
    samples.
    """
    numbers = samples["sample_id"].to_numpy("int64")
    of_case = samples.groupby("case_id").indices
    last = np.full(len(samples), "", dtype=object)
    for check in checks.itertuples(index=False):
        own = of_case.get(check.case_id, np.empty(0, dtype="int64"))
        last[own[(numbers[own] >= check.first_sample) & (numbers[own] < check.end_sample)]] = check.result
    compiled = samples["state"].isin((State.COMPILE, State.TRACED)).to_numpy(bool)
    checked = (last == CheckResult.PASSED) | (compiled & (last != CheckResult.SUPERSEDED))
    return samples.assign(checked=pd.array(checked, dtype="boolean"))
