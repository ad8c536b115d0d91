"""One sample of each variant of a pattern as a trace that Perfetto and Chrome's viewer open.

The format is Chrome's Trace Event Format: a variant is a process, and its tracks are threads. There is a track of the
host, and of each queue one for its kernels, its copies and its other events. Slices of a track may only nest, so
that events of one queue that overlap get further tracks. Times are in us from the variant's first moment, so that
variants stand one below the other. Devices with clocks of their own are laid one below the other, too, by the first
submission of each: nobody can tell how their clocks differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from xebench.analysis import points
from xebench.analysis.rows import Row, by_place, place, rows
from xebench.analysis.times import usable
from xebench.errors import XebenchError
from xebench.tables import Run
from xebench.vocabulary import State

#: What a track of a queue is called that has events of a kind; all else are other events.
_TRACKS: Final[Mapping[str, str]] = {"kernel": "kernels", "copy": "copies"}
_OTHERS: Final = "other events"
#: A submission is a moment; it is drawn for so long, or until the next one, so that it can be seen and an arrow leave.
_SUBMISSION_NS: Final = 1000

#: For more events than a sample has; with these and a process's number an id is exact as a number of JSON.
_SEQUENCE_BITS: Final = 24

_TIMES: Final = ("submit_ns", "start_ns", "end_ns")

#: From one process's number to the next one's. Those between are its threads': Perfetto takes threads of one number
#: for one thread, whatever their processes are, the one with the process's own for its main thread, and 0 for none.
_PROCESS_STEP: Final = 10_000
#: At the same time an enclosing slice comes first, and flows come after the slices that they connect.
_RANKS: Final = {"M": 0, "X": 1, "s": 2, "f": 3}

Event = dict[str, Any]


@dataclass(frozen=True)
class _Sample:
    """A case's typical sample: its row in `samples` and its events that have times.

    ``events`` have times of one clock: see `_on_one_clock`.
    """

    pid: int
    case: Row
    sample: Row
    events: Sequence[Row]

    @property
    def host(self) -> int:
        """The number of the host's track."""
        return self.pid

    @property
    def end_ns(self) -> int:
        """The host's time ends here, since it waited for everything; or where a wrong submission seems to lie."""
        return max(max(_end_ns(event), _submitted_ns(event)) for event in self.events)

    @property
    def begin_ns(self) -> int:
        """When the host began, or its first event where that seems to be earlier."""
        total_ns = round(float(self.sample["host_ns"]) * int(self.sample["batch"] or 1))
        return min(
            self.end_ns - total_ns,
            *map(_first_ns, self.events),
        )


def as_json(run: Run, pattern: str) -> str:
    """The trace of a pattern, of each variant and state the sample of median time.

    Raises:
        XebenchError: the run has no such pattern, or no sample of it that counts and has events.
    """
    samples = _typical_samples(run, pattern)
    events = [event for sample in samples for event in _events(sample)]
    events.sort(key=lambda event: (event.get("ts", -1.0), _RANKS[event["ph"]], -event.get("dur", 0.0)))
    device = by_place(run.devices).get(place(samples[0].case), {})
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
            },
        }
    )


def _typical_samples(run: Run, pattern: str) -> list[_Sample]:
    cases = run.cases[run.cases["pattern"] == pattern]
    if cases.empty:
        known = ", ".join(sorted(set(run.cases["pattern"])))
        raise XebenchError(f"the run in {run.path} has no pattern {pattern!r}: it has {known or 'none'}")
    counted = usable(cases, run.samples[run.samples["case_id"].isin(cases["case_id"])])
    timed = run.events.dropna(subset=["start_ns", "end_ns"])
    timed = timed[timed["sample_id"].isin(counted["sample_id"])]
    counted = counted[counted["sample_id"].isin(timed["sample_id"])]
    found = [
        (case, _nearest_to_median(of_state))
        for case in rows(cases)
        for _, of_state in counted[counted["case_id"] == case["case_id"]].groupby("state", sort=False)
    ]
    if not found:
        raise XebenchError(
            f"{pattern} has no sample with events that counts in {run.path}: 'xebench report' tells what became of it"
        )
    chosen = timed[timed["sample_id"].isin([sample["sample_id"] for _, sample in found])]
    events = {number: rows(of_sample) for number, of_sample in chosen.groupby("sample_id")}
    return [
        _Sample(number * _PROCESS_STEP, case, sample, _on_one_clock(events[sample["sample_id"]]))
        for number, (case, sample) in enumerate(found, 1)
    ]


def _on_one_clock(events: Sequence[Row]) -> list[Row]:
    """The events with times from the first submission to their own device; as they are where there is one clock."""
    first: dict[int, int] = {}
    for event in events:
        clock = event["clock"] or 0
        first[clock] = min(_first_ns(event), first.get(clock, _first_ns(event)))
    if len(first) == 1:
        return list(events)
    return [event | {name: _less(event[name], first[event["clock"] or 0]) for name in _TIMES} for event in events]


def _less(moment: int | None, begin: int) -> int | None:
    return None if moment is None else moment - begin


def _first_ns(event: Row) -> int:
    return min(_submitted_ns(event), int(event["start_ns"]))


def _nearest_to_median(samples: pd.DataFrame) -> Row:
    distance = (samples["time_ns"] - samples["time_ns"].median()).abs()
    return rows(samples.loc[[distance.idxmin()]])[0]


def _submitted_ns(event: Row) -> int:
    """A missing submission counts as the start."""
    return int(event["start_ns"] if event["submit_ns"] is None else event["submit_ns"])


def _events(sample: _Sample) -> Iterator[Event]:
    case, pid = sample.case, sample.pid
    cold = ["cold"] if sample.sample["state"] == State.COLD else []
    point = [points.words(points.point(case)), *cold]
    yield from _named(
        pid, sample.host, "process", ", ".join(filter(None, [f"{case['variant']} ({case['role']})", *point]))
    )
    yield from _named(pid, sample.host, "thread", "host")
    yield from _on_host(sample)
    for thread, (name, events) in enumerate(_tracks(sample.events), sample.host + 1):
        yield from _named(pid, thread, "thread", name)
        for event in events:
            yield from _slice_of(sample, thread, event)


def _named(pid: int, thread: int, what: str, name: str) -> Iterator[Event]:
    """The name of a process or a thread, and its place among the others."""
    event = {"ph": "M", "pid": pid, "tid": thread}
    place = pid if what == "process" else thread
    yield {**event, "name": f"{what}_name", "args": {"name": name}}
    yield {**event, "name": f"{what}_sort_index", "args": {"sort_index": place}}


def _on_host(sample: _Sample) -> Iterator[Event]:
    """The whole sample, and within it the moments of submission."""
    row = sample.sample
    facts = {
        "sample": row["sample_id"],
        "host_ns": row["host_ns"],
        "executions": row["batch"],
        "flags": row["sample_flags"],
    }
    name = f"sample {row['sample_id']}, until everything is over"
    yield _slice(sample, sample.host, name, "host", sample.begin_ns, sample.end_ns, facts)
    moments = sorted({_submitted_ns(event) for event in sample.events})
    for moment, following in zip(moments, [*moments[1:], sample.end_ns], strict=True):
        names = [str(event["name"]) for event in sample.events if _submitted_ns(event) == moment]
        end = min(moment + _SUBMISSION_NS, max(moment, following))
        yield _slice(sample, sample.host, f"submit {', '.join(names)}", "host", moment, end, {})


def _tracks(events: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row]]]:
    """The tracks of the queues, each with events that do not overlap."""
    grouped: dict[tuple[str, str], list[Row]] = {}
    for event in events:
        of_rank = "" if event["mpi_rank"] is None else f"rank {event['mpi_rank']} "
        by_clock = f" by clock {event['clock']}" if event["clock"] and not of_rank else ""
        key = f"{of_rank}{event['queue']}{by_clock}", _TRACKS.get(event["kind"], _OTHERS)
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


def _end_ns(event: Row) -> int:
    """A event never ends before its start, whatever its timestamps say."""
    return max(int(event["start_ns"]), int(event["end_ns"]))


def _slice_of(sample: _Sample, thread: int, event: Row) -> Iterator[Event]:
    """The slice of a event, and an arrow from its submission."""
    start, end, submitted = int(event["start_ns"]), _end_ns(event), _submitted_ns(event)
    told = {name: event[name] for name in ("bytes", "route") if event[name] is not None}
    if event["bytes"] is not None and end > start:
        told["GB/s"] = round(event["bytes"] / (end - start), 3)
    facts = {"sequence": event["sequence"], "submit_ns": event["submit_ns"], "start_ns": start, **told}
    yield _slice(sample, thread, str(event["name"]), event["kind"], start, end, facts)
    if submitted <= start < end and event["submit_ns"] is not None:
        # Perfetto drops flows whose id is no whole number
        number = sample.pid << _SEQUENCE_BITS | int(event["sequence"])
        flow = {"name": "submit to start", "cat": "flow", "id": number}
        yield {**flow, "ph": "s", **_at(sample, sample.host, submitted)}
        yield {**flow, "ph": "f", "bp": "e", **_at(sample, thread, start)}


def _slice(
    sample: _Sample, thread: int, name: str, category: str, begin: int, end: int, facts: Mapping[str, Any]
) -> Event:
    duration_us = (end - begin) / 1000
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        **_at(sample, thread, begin),
        "dur": duration_us,
        "args": dict(facts),
    }


def _at(sample: _Sample, thread: int, moment_ns: int) -> Event:
    return {"pid": sample.pid, "tid": thread, "ts": (moment_ns - sample.begin_ns) / 1000}
