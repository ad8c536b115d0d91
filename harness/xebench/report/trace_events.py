"""One execution of each variant of a pattern as a trace that Perfetto and Chrome's viewer open.

The format is Chrome's Trace Event Format. A variant is a process, and so is each of its ranks; tracks are threads.
There is a track of each thread of the host, and of each queue one for its kernels, its copies and its other events.
Slices of a track may only nest, so that events of one queue that overlap get further tracks. Times are in us from the
variant's first moment, so that variants stand one below the other.

The host's track is what was read in the variant's traced execution (`xebench.session.host_trace`); the device's times
are laid beside it by what both saw (`xebench.analysis.clocks`). A run of an earlier xebench has no traced execution.
Of that the sample of median time is shown, without the host; each clock begins with its own first moment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Final, NamedTuple

import pandas as pd

from xebench.analysis import points
from xebench.analysis.clocks import Alignment, Seen, align
from xebench.analysis.rows import Row, by_place, place, rows
from xebench.analysis.times import usable
from xebench.errors import XebenchError
from xebench.tables import Run
from xebench.vocabulary import State, metric_named

#: What a track of a queue is called that has events of a kind; all else are other events.
_TRACKS: Final[Mapping[str, str]] = {"kernel": "kernels", "copy": "copies"}
_OTHERS: Final = "other events"
#: What the host does to have an event of a kind.
_VERBS: Final[Mapping[str, str]] = {"kernel": "launch ", "library": "call "}

#: For more events than a sample has; with these and a process's number an id is exact as a number of JSON.
_SEQUENCE_BITS: Final = 24

#: From one process's number to the next one's. Those between are its threads': Perfetto takes threads of one number
#: for one thread, whatever their processes are, the one with the process's own for its main thread, and 0 for none.
_PROCESS_STEP: Final = 10_000
#: At the same time an enclosing slice comes first, and flows come after the slices that they connect.
_RANKS: Final = {"M": 0, "X": 1, "s": 2, "f": 3}

Event = dict[str, Any]


@dataclass(frozen=True)
class _Process:
    """What one process of a variant did: it alone, or a rank.

    Attributes:
        pid: number of the process, and of its first thread.
        title: of the process.
        events: rows of commands, with times of devices.
        calls: rows of what the host did beside submissions; none where no execution was traced.
        facts: of the whole execution.
    """

    pid: int
    title: str
    events: Sequence[Row]
    calls: Sequence[Row]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def clocks(self) -> dict[int, Alignment]:
        """How the times of each clock are read."""
        by_clock: dict[int, list[Row]] = {}
        for event in self.events:
            by_clock.setdefault(event["clock"] or 0, []).append(event)
        return {clock: self._aligned(own) for clock, own in by_clock.items()}

    def _aligned(self, events: Sequence[Row]) -> Alignment:
        first = min(_first_ns(event) for event in events)
        if not self.calls:
            return Alignment(first, -first, 0.0, 0.0, is_consistent=True)
        begin, end = self.calls[0]["submit_began_host_ns"], self.calls[0]["submit_ended_host_ns"]
        return align(
            [
                Seen(
                    int(event["start_ns"]),
                    _end_ns(event),
                    event["submit_began_host_ns"] or begin,
                    event["over_host_ns"] or end,
                )
                for event in events
            ]
        )

    def on_host(self, event: Row, device_ns: int) -> int:
        """A time of the event's clock on the host's."""
        return self.clocks[event["clock"] or 0].on_host(device_ns)

    @property
    def begin_ns(self) -> int:
        """When anything happened first."""
        firsts = [self.on_host(event, int(event["start_ns"])) for event in self.events]
        return min([*firsts, *(int(call["submit_began_host_ns"]) for call in self.calls)])

    def told_clocks(self) -> list[dict[str, Any]]:
        """What the device's times on the host's clock rest on."""
        return [
            {
                "process": self.pid,
                "clock": clock,
                "added_ns": found.offset_ns,
                "added_per_ns": found.drift,
                "uncertainty_ns": found.uncertainty_ns,
                "all_commands_agree": found.is_consistent,
            }
            for clock, found in self.clocks.items()
            if self.calls
        ]


def as_json(run: Run, pattern: str) -> str:
    """The trace of a pattern: of each variant its traced execution, or else the sample of median time.

    Raises:
        XebenchError: the run has no such pattern, or no execution of it that can be shown.
    """
    variants = _variants(run, pattern)
    events = [event for processes in variants for event in _events(processes)]
    events.sort(key=lambda event: (event.get("ts", -1.0), _RANKS[event["ph"]], -event.get("dur", 0.0)))
    cases = rows(run.cases[run.cases["pattern"] == pattern])
    device = by_place(run.devices).get(place(cases[0]), {})
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
                "clocks": [told for processes in variants for own in processes for told in own.told_clocks()],
            },
        }
    )


def _variants(run: Run, pattern: str) -> list[list[_Process]]:
    """The processes of each case that has something to show."""
    cases = run.cases[run.cases["pattern"] == pattern]
    if cases.empty:
        known = ", ".join(sorted(set(run.cases["pattern"])))
        raise XebenchError(f"the run in {run.path} has no pattern {pattern!r}: it has {known or 'none'}")
    samples = run.samples[run.samples["case_id"].isin(cases["case_id"])]
    counted = usable(cases, samples)
    shown = executions(samples, counted[counted["sample_id"].isin(run.events["sample_id"])])
    events = run.events[run.events["sample_id"].isin(shown["sample_id"])]
    medians = median_ns(counted)
    found = _of_cases(rows(cases), by_key(shown, "case_id"), by_key(events, "sample_id"), medians)
    if not found:
        raise XebenchError(
            f"{pattern} has no sample with events that counts in {run.path}: 'xebench report' tells what became of it"
        )
    return found


def executions(samples: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``samples`` that traces show: each case's traced execution, else what counts of median time."""
    traced = samples[samples["state"] == State.TRACED]
    shown = counted if traced.empty else traced
    return pd.concat([_nearest_to_median(own) for _, own in shown.groupby(["case_id", "state"], sort=False)] or [shown])


def median_ns(counted: pd.DataFrame) -> dict[str, float]:
    """The time of each case's samples, by case_id."""
    return {str(case_id): float(value) for case_id, value in counted.groupby("case_id")["time_ns"].median().items()}


def by_key(data: pd.DataFrame, column: str) -> dict[Any, list[Row]]:
    """The rows of a frame by the value of a column."""
    found: dict[Any, list[Row]] = {}
    for row in rows(data):
        found.setdefault(row[column], []).append(row)
    return found


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
    return [list(_events(processes)) for processes in _of_cases(cases, shown, events, medians)]


def _of_cases(
    cases: Sequence[Row],
    shown: Mapping[Any, Sequence[Row]],
    events: Mapping[Any, Sequence[Row]],
    medians: Mapping[str, float],
) -> list[list[_Process]]:
    found: list[list[_Process]] = []
    for case in cases:
        for sample in shown.get(case["case_id"], ()):
            metric = metric_named(case["metric"])
            facts = {
                "metric": metric,
                metric.column: sample[metric.column],
                "median_of_samples_ns": medians.get(case["case_id"]),
                "claims": case["claims"],
            }
            own = events.get(sample["sample_id"], ())
            processes = _processes(1 + sum(map(len, found)), _title(case, sample), own, facts)
            found += [processes] if processes else []
    return found


def _nearest_to_median(samples: pd.DataFrame) -> pd.DataFrame:
    if len(samples) == 1:
        return samples
    distance = (samples["time_ns"] - samples["time_ns"].median()).abs()
    return samples.loc[[distance.idxmin()]]


def _title(case: Row, sample: Row) -> str:
    cold = ["cold"] if sample["state"] == State.COLD else []
    point = [points.words(points.point(case)), *cold]
    return ", ".join(filter(None, [f"{case['variant']} ({case['role']})", *point]))


def _processes(first: int, title: str, events: Sequence[Row], facts: Mapping[str, Any]) -> list[_Process]:
    """What one execution did: a process of it alone, or of each rank."""
    found: list[_Process] = []
    for rank in sorted({event["mpi_rank"] for event in events}, key=lambda rank: rank or 0):
        own = [event for event in events if event["mpi_rank"] == rank]
        commands = [event for event in own if event["start_ns"] is not None and event["end_ns"] is not None]
        calls = [event for event in own if event["end_ns"] is None and event["submit_began_host_ns"] is not None]
        if commands or calls:
            name = title if rank is None else f"{title}, rank {rank}"
            found.append(_Process((first + len(found)) * _PROCESS_STEP, name, commands, calls, facts))
    return found


def _events(processes: Sequence[_Process]) -> Iterator[Event]:
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
    """What lasts from one moment of the host's clock to another, in ns."""

    name: str
    category: str
    begin_ns: int
    end_ns: int
    facts: Mapping[str, Any]

    def drawn(self, pid: int, thread: int, zero_ns: int) -> Event:
        """As the format has it, with times from ``zero_ns``."""
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


def _host_tracks(process: _Process) -> dict[int, list[_Slice]]:
    """What each thread of the host did: its calls, and those that submitted commands."""
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
    """As few tracks as hold all: each event goes onto the first that is free again."""
    tracks: list[list[Row]] = []
    for event in sorted(events, key=lambda event: (event["start_ns"], event["end_ns"])):
        free = (track for track in tracks if _end_ns(track[-1]) <= event["start_ns"])
        track = next(free, None)
        if track is None:
            tracks.append([event])
        else:
            track.append(event)
    return tracks


def _first_ns(event: Row) -> int:
    """When its device knew of it: a submission may be missing, or seem to lie too late."""
    return int(min(event["start_ns"], event["start_ns"] if event["submit_ns"] is None else event["submit_ns"]))


def _end_ns(event: Row) -> int:
    """A event never ends before its start, whatever its timestamps say."""
    return max(int(event["start_ns"]), int(event["end_ns"]))


def _of_device(process: _Process, thread: int, event: Row, zero_ns: int) -> Iterator[Event]:
    """The slice of an event, and an arrow from the call that submitted it."""
    begin, end = (process.on_host(event, moment) for moment in (int(event["start_ns"]), _end_ns(event)))
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
