"""One execution of each variant of a pattern as a trace that Perfetto and Chrome's viewer open.

The format is Chrome's Trace Event Format. A variant is a process, and so is each of its ranks; tracks are threads.
There is a track of each thread of the host, and of each queue one for its kernels, its copies and its other events.
Slices of a track may only nest, so that events of one queue that overlap get further tracks. Times are in us from the
variant's first moment, so that variants stand one below the other.

What it shows of each variant is `xebench.results.timeline`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from xebench.records.points import Row, by_device, device_key, rows
from xebench.results import Run
from xebench.results.timeline import ProcessTimeline, end_ns, of_cases, variants_of

#: Names of a queue's tracks by the kind of their events, and the name for all other kinds.
_TRACKS: Final[Mapping[str, str]] = {"kernel": "kernels", "copy": "copies"}
_OTHERS: Final = "other events"
#: Host actions that create each kind of event.
_VERBS: Final[Mapping[str, str]] = {"kernel": "launch ", "library": "call "}

#: More than the events of any sample. An id made from this and a process number is exact as a JSON number.
_SEQUENCE_BITS: Final = 24

#: Order of equal times: enclosing slices first, flows after the slices that they connect.
_RANKS: Final = {"M": 0, "X": 1, "s": 2, "f": 3}

Event = dict[str, Any]


def as_json(run: Run, pattern: str) -> str:
    """The trace of a pattern: of each variant its traced execution, or else the sample of median time.

    Raises:
        XebenchError: the run has no such pattern, or no execution of it that can be shown.
    """
    run = run.of(pattern)
    variants = variants_of(run, pattern)
    events = [event for processes in variants for event in _events(processes)]
    events.sort(key=lambda event: (event.get("ts", -1.0), _RANKS[event["ph"]], -event.get("dur", 0.0)))
    cases = rows(run.cases[run.cases["pattern"] == pattern])
    device = by_device(run.devices).get(device_key(cases[0]), {})
    return json.dumps(
        {
            "traceEvents": events,
            "displayTimeUnit": "ns",
            "otherData": {
                "run": str(run.path),
                "pattern": pattern,
                "device": device.get("name"),
                "driver": device.get("driver_version"),
                "host": device.get("host"),
                "clocks": [facts for processes in variants for own in processes for facts in own.clock_facts()],
            },
        }
    )


def variants(
    cases: Sequence[Row],
    shown: Mapping[Any, Sequence[Row]],
    events: Mapping[Any, Sequence[Row]],
    medians: Mapping[str, float],
) -> list[list[Event]]:
    """The events of each execution of some cases, as the format has them.

    Args:
        cases: rows of the table `cases`, in the order in which they are shown.
        shown: rows that `executions` gives, by case_id.
        events: rows of the table `events`, by sample_id.
        medians: time of a case's samples, in ns, by case_id.
    """
    return [list(_events(processes)) for processes in of_cases(cases, shown, events, medians)]


def _events(processes: Sequence[ProcessTimeline]) -> Iterator[Event]:
    begin_ns = min(process.begin_ns for process in processes)  # ranks have the host's clock in common
    for process in processes:
        pid = process.pid
        yield from _named(pid, pid, "process", process.title)
        hosts, devices = _host_tracks(process), list(_tracks(process.events))
        for thread, slices in sorted(hosts.items()):
            yield from _named(pid, pid + thread, "thread", f"host thread {thread}" if thread else "host")
            for slice_ in slices:
                yield slice_.drawn(pid, pid + thread, begin_ns)
        for thread, (name, events) in enumerate(devices, pid + 1 + max(hosts, default=0)):
            yield from _named(pid, thread, "thread", name)
            for event in events:
                yield from _of_device(process, thread, event, begin_ns)


def _named(pid: int, thread: int, what: str, name: str) -> Iterator[Event]:
    """The name of a process or a thread, and its place among the others."""
    event = {"ph": "M", "pid": pid, "tid": thread}
    place = pid if what == "process" else thread
    yield {**event, "name": f"{what}_name", "args": {"name": name}}
    yield {**event, "name": f"{what}_sort_index", "args": {"sort_index": place}}


class _Slice(NamedTuple):
    """A slice from one moment of the host's clock to another, in ns."""

    name: str
    category: str
    begin_ns: int
    end_ns: int
    facts: Mapping[str, Any]

    def drawn(self, pid: int, thread: int, zero_ns: int) -> Event:
        """The slice in the trace format, with times from ``zero_ns``."""
        return {
            "ph": "X",
            "name": self.name,
            "cat": self.category,
            "pid": pid,
            "tid": thread,
            "ts": (self.begin_ns - zero_ns) / 1000,
            "dur": (self.end_ns - self.begin_ns) / 1000,
            "args": dict(self.facts),
        }


def _host_tracks(process: ProcessTimeline) -> dict[int, list[_Slice]]:
    """The tracks of the host's threads: their calls, and those that submitted commands."""
    tracks: dict[int, list[_Slice]] = {}
    for call in process.calls:
        facts = process.facts if call["kind"] == "execution" else {}
        times = call["submit_began_host_ns"], call["submit_ended_host_ns"]
        tracks.setdefault(call["thread"], []).append(_Slice(call["name"], call["kind"], *times, facts))
    submitted = [event for event in process.events if event["submit_began_host_ns"] is not None]
    submitted.sort(key=_call_of)  # one call may submit several
    for (thread, began, ended), together in groupby(submitted, _call_of):
        names = [f"{_VERBS.get(event['kind'], '')}{event['name']}" for event in together]
        tracks.setdefault(thread, []).append(_Slice(", ".join(names), "submission", began, ended, {}))
    return tracks


def _call_of(event: Row) -> tuple[int, int, int]:
    return event["thread"], event["submit_began_host_ns"], event["submit_ended_host_ns"]


def _tracks(events: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row]]]:
    """The tracks of the queues, each with events that do not overlap."""
    clocks = {event["clock"] for event in events}
    grouped: dict[tuple[str, str], list[Row]] = {}
    for event in events:
        by_clock = f" by clock {event['clock']}" if len(clocks) > 1 and event["clock"] else ""
        key = f"{event['queue']}{by_clock}", _TRACKS.get(event["kind"], _OTHERS)
        grouped.setdefault(key, []).append(event)
    for (queue, what), members in sorted(grouped.items()):
        for number, track in enumerate(_without_overlap(members), 1):
            yield f"{queue} {what}{f' ({number})' if number > 1 else ''}", track


def _without_overlap(events: Iterable[Row]) -> list[list[Row]]:
    """The fewest tracks that hold all events without overlap: each event goes onto the first free track."""
    tracks: list[list[Row]] = []
    for event in sorted(events, key=lambda event: (event["start_ns"], event["end_ns"])):
        free = (track for track in tracks if end_ns(track[-1]) <= event["start_ns"])
        track = next(free, None)
        if track is None:
            tracks.append([event])
        else:
            track.append(event)
    return tracks


def _of_device(process: ProcessTimeline, thread: int, event: Row, zero_ns: int) -> Iterator[Event]:
    """The slice of an event, and an arrow from the call that submitted it."""
    begin, end = (process.on_host(event, moment) for moment in (int(event["start_ns"]), end_ns(event)))
    told = {
        name: event[name] for name in ("submit_ns", "start_ns", "end_ns", "bytes", "route") if event[name] is not None
    }
    if event["bytes"] is not None and end > begin:
        told["GB/s"] = round(event["bytes"] / (event["end_ns"] - event["start_ns"]), 3)
    drawn = _Slice(str(event["name"]), event["kind"], begin, end, {"sequence": event["sequence"], **told})
    yield drawn.drawn(process.pid, thread, zero_ns)
    call = event["submit_began_host_ns"]
    if call is not None and call < event["submit_ended_host_ns"] and call <= begin < end:
        # Perfetto drops flows whose id is no whole number
        number = process.pid << _SEQUENCE_BITS | int(event["sequence"])
        flow = {"name": "submit to start", "cat": "flow", "id": number, "pid": process.pid}
        yield {**flow, "ph": "s", "tid": process.pid + event["thread"], "ts": (call - zero_ns) / 1000}
        yield {**flow, "ph": "f", "bp": "e", "tid": thread, "ts": (begin - zero_ns) / 1000}
