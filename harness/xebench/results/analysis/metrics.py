"""The time of a sample by each metric, what the timestamps of its events must satisfy, and how much ran at once.

Each broken rule is a flag of the sample (`xebench.vocabulary.Flag`), which is kept and shown; a flag that spoils what
a metric is read from makes it invalid, so that no statistic uses it. Seen in the wild: submission timed as execution,
stale times of reused events, starts before submits, clocks that wrap.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Container, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xebench.records.events import EventTimes
from xebench.vocabulary import Flag, Metric

if TYPE_CHECKING:  # workers compute metrics, and need no frames, which take 0.2 s to import
    import pandas as pd

#: Fewest quanta of the profiling timer for a sample that is not `Flag.SHORT`.
MIN_QUANTA: Final = 10

#: Relative tolerance between the device's and the host's clock before a sample is `Flag.OUTSIDE_HOST`.
CLOCK_TOLERANCE: Final = 0.001


def with_flags(known: str, *more: Flag) -> str:
    """A sample's flags as tables keep them, commas between, with more of them; none stands twice."""
    return ",".join(dict.fromkeys(filter(None, (*known.split(","), *more))))


def flags(
    events: Sequence[EventTimes],
    *,
    host_ns: float,
    resolution_ns: float,
    earlier_starts: Container[int] = (),
    earlier_end_ns: int | None = None,
) -> tuple[Flag, ...]:
    """The rules that a sample breaks, as flags in a fixed order; () for a clean sample or one without events.

    Args:
        events: The sample's commands, all on one device.
        host_ns: Host time from before the first submission to after the last wait, on the host's clock.
        resolution_ns: Quantum of the device's timer.
        earlier_starts: Starts of the commands of earlier samples on this device.
        earlier_end_ns: Last end of the sample before this one on this device, if that one was waited for.
    """
    if not events:
        return ()
    busy = union_ns(events)
    first_start = min(event.start_ns for event in events)
    longest = host_ns * (1 + CLOCK_TOLERANCE) + resolution_ns
    outside = max(event.end_ns for event in events) - first_start > longest
    broken = {
        Flag.ORDER: any(not event.submitted_ns <= event.start_ns <= event.end_ns for event in events),
        Flag.ZERO: busy == 0,
        Flag.SHORT: 0 < busy < MIN_QUANTA * resolution_ns,
        Flag.STALE: any(event.start_ns in earlier_starts for event in events),
        Flag.BACKWARDS: earlier_end_ns is not None and first_start < earlier_end_ns,
        Flag.OUTSIDE_HOST: outside,
        Flag.STALE_SUBMIT: not outside and span_ns(events) > longest,
        Flag.OVERLAP: sum(max(0, event.end_ns - event.start_ns) for event in events) > busy,
    }
    return tuple(flag for flag, is_broken in broken.items() if is_broken)


def union_ns(events: Sequence[EventTimes]) -> int:
    """Time during which at least one event ran: overlapping events count once, gaps not at all.

    Events whose end is not after their start add nothing.
    """
    busy, reached = 0, None
    for start, end in sorted((event.start_ns, event.end_ns) for event in events):
        begin = start if reached is None else max(start, reached)
        if end > begin:
            busy += end - begin
            reached = end
    return busy


def span_ns(events: Sequence[EventTimes]) -> int:
    """First submit to last end; 0 without events."""
    if not events:
        return 0
    return max(event.end_ns for event in events) - min(event.submitted_ns for event in events)


def queue_ns(events: Sequence[EventTimes]) -> int:
    """First submit to first start: how long the first event waited; 0 without events."""
    if not events:
        return 0
    return min(event.start_ns for event in events) - min(event.submitted_ns for event in events)


#: How each metric is computed from the events of one execution; metrics of the host's clock need none.
OF_EVENTS: Final[Mapping[Metric, Callable[[Sequence[EventTimes]], int]]] = {
    Metric.DEVICE: union_ns,
    Metric.SPAN: span_ns,
}


def sample_times(
    executions: Sequence[Sequence[EventTimes]], host_ns: float, build_ns: float = 0.0
) -> dict[Metric, float]:
    """Every metric of a sample in ns, of all its executions together.

    Args:
        executions: times of the events of each execution.
        host_ns: host time of all of them.
        build_ns: the part of it in which the driver built kernels.
    """
    by_host = {Metric.WALL: host_ns, Metric.BUILD: build_ns}
    return {
        metric: by_host[metric] if metric in by_host else sum(map(OF_EVENTS[metric], executions)) for metric in Metric
    }


#: Commands that only wait for others and do no work.
_WAITING: Final = "barrier"

#: The reason why a sample whose commands are of several clocks has no value.
SEVERAL_CLOCKS: Final = "unknown: its devices' clocks are not one clock"


def concurrency_of_samples(events: pd.DataFrame) -> pd.DataFrame:
    """The overlap of each sample's commands, by sample number; a sample in which nothing ran has no row.

    Barriers do not count, nor do commands whose end is not after their start. A sample whose commands are of several
    clocks has no row, since it is unknown which ran at the same time.

    Args:
        events: rows of the table `events`, in any order.

    Returns:
        busy_ns: time in which at least one command ran.
        overlap_ns: time in which at least two ran.
        work_ns: sum of the commands' durations.
        overlap: overlap_ns / busy_ns.
        concurrency: work_ns / busy_ns: how many commands ran on average while any did.
    """
    import pandas as pd

    ran = _ran(events)
    ran = ran[~ran["sample_id"].isin(_of_several_clocks(ran))]
    samples, place = np.unique(ran["sample_id"].to_numpy("int64"), return_inverse=True)
    starts, ends = ran["start_ns"].to_numpy("int64"), ran["end_ns"].to_numpy("int64")
    # sweep over all starts and ends, counting the commands that run between two of them
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


#: Drivers time a copy of pageable memory from anywhere between its first and its last piece: events do not show it.
_UNTIMED: Final = "pageable"


@functools.lru_cache(maxsize=8)
def link_roofs(text: Any) -> Mapping[str, float]:
    """The roofs in the column, in GB/s by route; empty for a null."""
    known = json.loads(text) if isinstance(text, str) else {}
    return MappingProxyType({route: float(gbps) for route, gbps in known.items() if gbps})


def link_of_samples(events: pd.DataFrame, roofs: Mapping[str, float]) -> pd.DataFrame:
    """The copies of each sample, summed up by sample number.

    Samples have a row only if all of their copies between host and device are identified: their bytes are known, and
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
    import pandas as pd

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
    return roofs.get(route) if isinstance(route, str) and _UNTIMED not in route else None
