"""The overlap of a sample's commands, from the intervals in the table `events`."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

#: Commands that only wait for others; their interval is no work.
_WAITING: Final = "barrier"

#: Why nothing is said of a sample whose commands are of several clocks.
SEVERAL_CLOCKS: Final = "unknown: its devices' clocks are not one clock"


def of_samples(events: pd.DataFrame) -> pd.DataFrame:
    """The overlap of each sample's commands, by sample number; a sample in which nothing ran has no row.

    Barriers do not count, nor do commands whose end is not after their start. A sample whose commands are of several
    clocks has no row, since nobody can tell what ran at the same time.

    Args:
        events: rows of the table `events`, in any order.

    Returns:
        busy_ns: time in which at least one command ran.
        overlap_ns: time in which at least two ran.
        work_ns: sum of the commands' durations.
        overlap: overlap_ns / busy_ns.
        concurrency: work_ns / busy_ns: how many commands ran on average while any did.
    """
    ran = _ran(events)
    ran = ran[~ran["sample_id"].isin(_of_several_clocks(ran))]
    samples, place = np.unique(ran["sample_id"].to_numpy("int64"), return_inverse=True)
    starts, ends = ran["start_ns"].to_numpy("int64"), ran["end_ns"].to_numpy("int64")
    # a sweep over all beginnings and ends: between two of them as many run as began and have not ended
    moments, change = np.concatenate([starts, ends]), np.repeat([1, -1], starts.size)
    place = np.tile(place, 2)
    order = np.lexsort((moments, place))
    running = np.cumsum(change[order])[:-1]
    lengths = np.diff(moments[order])  # between two samples nothing runs, so that such a length counts nothing
    found = {
        "busy_ns": np.where(running > 0, lengths, 0),
        "overlap_ns": np.where(running > 1, lengths, 0),
        "work_ns": running * lengths,
    }
    sums = pd.DataFrame(
        {name: np.bincount(place[order][:-1], part, samples.size).astype("int64") for name, part in found.items()},
        index=pd.Index(samples, name="sample_id"),
    )
    return sums.assign(overlap=sums["overlap_ns"] / sums["busy_ns"], concurrency=sums["work_ns"] / sums["busy_ns"])


def notes(events: pd.DataFrame) -> dict[str, str]:
    """The reason by ``case_id`` where the overlap is unknown for any sample of a case.

    Args:
        events: rows of the table `events`, in any order.
    """
    ran = _ran(events)
    several = ran["sample_id"].isin(_of_several_clocks(ran))
    return dict.fromkeys(ran.loc[several, "case_id"].unique(), SEVERAL_CLOCKS)


def _ran(events: pd.DataFrame) -> pd.DataFrame:
    return events[(events["kind"] != _WAITING) & (events["end_ns"] > events["start_ns"]).fillna(False)]


def _of_several_clocks(ran: pd.DataFrame) -> list[int]:
    """Numbers of the samples on devices with clocks of their own; earlier runs do not record clocks."""
    clock = ran["clock"].fillna(0)
    if (clock == 0).all():
        return []
    clocks = clock.groupby(ran["sample_id"]).nunique()
    return list(clocks.index[clocks > 1])
