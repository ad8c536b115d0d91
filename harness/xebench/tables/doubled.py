"""Measurements that stand twice in a table, under their own or under new numbers, count once: they are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pandas as pd

from xebench.errors import RunFolderError
from xebench.vocabulary import Flag

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

    Samples that were found to have the times of an earlier one say so themselves, by the flag for that.

    Raises:
        RunFolderError: names the sample of the first such event.
    """
    stale = samples.loc[samples["sample_flags"].str.contains(Flag.STALE), "sample_id"]
    timed = events[events["start_ns"].notna() & ~events["sample_id"].isin(stale)]
    _refuse(folder, "events", timed, timed.duplicated([*_MOMENT]))


def _refuse(folder: Path, table: str, data: pd.DataFrame, doubled: pd.Series[bool]) -> None:
    if doubled.any():
        number = data.loc[doubled, "sample_id"].iloc[0]
        raise RunFolderError(
            f"{folder} is damaged: its {table} have sample {number} twice: restore it from a copy of the run"
        )
