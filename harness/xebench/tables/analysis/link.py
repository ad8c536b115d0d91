"""The speed of a sample's copies between host and device, against the measured roofs of the same routes.

The roofs are the column ``link_roofs`` of the table `devices`: GB/s by route, as ``events.route`` has them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from xebench.tables.analysis import concurrency

#: Drivers time a copy of pageable memory from anywhere between its first and its last piece: events do not tell.
_UNTIMED: Final = "pageable"


@functools.lru_cache(maxsize=8)
def link_roofs(text: Any) -> Mapping[str, float]:
    """The roofs in the column, in GB/s by route; empty for a null."""
    known = json.loads(text) if isinstance(text, str) else {}
    return MappingProxyType({route: float(gbps) for route, gbps in known.items() if gbps})


def of_samples(events: pd.DataFrame, roofs: Mapping[str, float]) -> pd.DataFrame:
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
    ran = concurrency.of_samples(whole)
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
