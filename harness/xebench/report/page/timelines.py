"""The timelines of a pattern: its variants' executions as charts, with their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from xebench.report import units
from xebench.report.charts import timeline
from xebench.report.charts.timeline import Box, Lane
from xebench.report.trace_events import Event

#: Longest over shortest execution up to which all have one axis.
_ALIKE: Final = 6.0


@dataclass(frozen=True)
class Timeline:
    """An execution: the variant with its role, the chart, each lane's boxes and sum in words, and kinds of boxes."""

    name: str
    chart: Markup
    lanes: Sequence[tuple[str, int, str]]
    kinds: frozenset[str]


def timelines(executions: Sequence[Sequence[Event]]) -> list[Timeline]:
    """The timelines of one execution of each variant, from its events in the trace format."""
    read = [(_title(events), _lanes(events)) for events in executions]
    ends = [max((box.end_us for lane in lanes for box in lane.boxes), default=0.0) for _, lanes in read]
    common = max(ends, default=0.0) if min(ends, default=0.0) * _ALIKE >= max(ends, default=0.0) else None
    return [
        Timeline(
            name,
            timeline.draw(name, lanes, end if common is None else common),
            [(lane.name, len(lane.boxes), units.duration(1e3 * timeline.busy_us(lane))) for lane in lanes],
            frozenset(timeline.word(box.kind) for lane in lanes for box in lane.boxes),
        )
        for (name, lanes), end in zip(read, ends, strict=True)
    ]


def _title(events: Sequence[Event]) -> str:
    return next((event["args"]["name"] for event in events if event["name"] == "process_name"), "")


def _lanes(events: Sequence[Event]) -> list[Lane]:
    """A lane for each thread, in the order of the format; ranks one below the other."""
    names: dict[tuple[int, int], str] = {}
    processes: dict[int, str] = {}
    boxes: dict[tuple[int, int], list[Box]] = {}
    for event in events:
        key = event["pid"], event["tid"]
        if event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            names[key] = event["args"]["name"]
        elif event["ph"] == "X":
            box = Box(event["name"], event["cat"], event["ts"], event["ts"] + event["dur"])
            boxes.setdefault(key, []).append(box)
    return [
        Lane(f"{processes[pid].rpartition(', ')[2]} {name}" if len(processes) > 1 else name, boxes[pid, tid])
        for (pid, tid), name in names.items()
        if (pid, tid) in boxes
    ]
