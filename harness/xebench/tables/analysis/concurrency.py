"""How much of a sample's commands ran at the same time, and how fast its copies crossed between host and device.

The roofs are the column ``link_roofs`` of the table `devices`: GB/s by route, as ``events.route`` has them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

#: Commands that only wait for others; their interval is no work.
_WAITING: Final = "barrier"

#: Why nothing is said of a sample whose commands are of several clocks.
SEVERAL_CLOCKS: Final = "unknown: its devices' clocks are not one clock"


def concurrency_of_samples(events: pd.DataFrame) -> pd.DataFrame:
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


#: Drivers time a copy of pageable memory from anywhere between its first and its last piece: events do not tell.
_UNTIMED: Final = "pageable"


@functools.lru_cache(maxsize=8)
def link_roofs(text: Any) -> Mapping[str, float]:
    """The roofs in the column, in GB/s by route; empty for a null."""
    known = json.loads(text) if isinstance(text, str) else {}
    return MappingProxyType({route: float(gbps) for route, gbps in known.items() if gbps})


def link_of_samples(events: pd.DataFrame, roofs: Mapping[str, float]) -> pd.DataFrame:
    """The copies of each sample, summed up by sample number.

    Samples have a row only where all of their copies between host and device can be told: their bytes are known, and
    their route was measured and is not of pageable memory.

    Args:
        events: rows of the table `events`.
        roofs: GB/s by route.

    Returns:
        copy_gbps: bytes over the time in which at least one copy ran.
        link_fraction: the time that the copies would take one by one at their roofs, over that time. Above 1 where
            copies of both directions, or of several links, ran side by side.
        link_apart: the same over the sum of the copies' times, which no copies side by side raise above 1.
    """
    copies = events[(events["kind"] == "copy") & (events["route"] != "device_to_device").fillna(True)]
    gbps = copies["route"].map(lambda route: _gbps(route, roofs)).astype("float64")
    told = gbps.notna() & copies["bytes"].notna()
    unknown = copies.loc[~told, "sample_id"]
    whole = copies[told & ~copies["sample_id"].isin(unknown)]
    amount = whole["bytes"].astype("float64")
    sums = pd.DataFrame({"bytes": amount, "ideal_ns": amount / gbps[whole.index]}).groupby(whole["sample_id"]).sum()
    ran = concurrency_of_samples(whole)
    sums = sums.loc[ran.index]  # without copies of no length
    return pd.DataFrame(
        {
            "copy_gbps": sums["bytes"] / ran["busy_ns"],
            "link_fraction": sums["ideal_ns"] / ran["busy_ns"],
            "link_apart": sums["ideal_ns"] / ran["work_ns"],
        }
    )


def _gbps(route: Any, roofs: Mapping[str, float]) -> float | None:
    return None if pd.isna(route) or _UNTIMED in route else roofs.get(route)
