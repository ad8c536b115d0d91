"""A timeline of each variant of a pattern: its events on host and device, with their clocks aligned.

A command starts after the host began to submit it, and ends before the host finished waiting for it. So each command
bounds the offset between the two clocks from both sides. The offset lies in the intersection of all bounds, and half of
its width is the uncertainty. If the bounds do not intersect, the clocks drift, and a rate is fitted as well.

The host's side comes from the variant's traced execution (`xebench.session.transcript`). A run of an earlier xebench
has none: then the sample of median time is shown without the host, and each clock begins with its own first moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import pandas as pd

from xebench.errors import XebenchError
from xebench.records import points
from xebench.records.points import Row, rows
from xebench.results.analysis.summaries import usable
from xebench.vocabulary import State, metric_named

#: Clocks that drivers convert with a rounded period (52 ns for 52.08, 83 for 83.33) differ by up to 0.4 %.
MOST_DRIFT: Final = 0.01

_STEPS: Final = 100


class Seen(NamedTuple):
    """A command: its times on the device's clock, and on the host's clock what surely came before and after; in ns."""

    start_ns: int
    end_ns: int
    began_host_ns: int
    over_host_ns: int


@dataclass(frozen=True)
class Alignment:
    """The mapping of a device's times to the host's clock.

    Attributes:
        origin_ns: time on the device's clock from which `drift` counts.
        offset_ns: offset that maps a device time to the host's clock; 0 if the device uses the host's clock.
        drift: correction for each ns after the origin.
        uncertainty_ns: largest error of a mapped time in either direction. If no offset and drift suit all commands
            (``is_consistent`` is false), half of the largest contradiction.
        is_consistent: True if one offset and drift suit all commands.
    """

    origin_ns: int
    offset_ns: int
    drift: float
    uncertainty_ns: float
    is_consistent: bool

    def on_host(self, device_ns: int) -> int:
        """A time of the device on the host's clock, in ns."""
        return device_ns + self.offset_ns + round(self.drift * (device_ns - self.origin_ns))


def align(seen: Sequence[Seen]) -> Alignment:
    """The alignment that all commands agree on; there is at least one."""
    origin = seen[0].start_ns
    low = max(each.began_host_ns - each.start_ns for each in seen)
    high = min(each.over_host_ns - each.end_ns for each in seen)
    if low <= 0 <= high:
        return Alignment(origin, 0, 0.0, 0.0, is_consistent=True)
    if low <= high:
        return Alignment(origin, (low + high) // 2, 0.0, (high - low) / 2, is_consistent=True)
    # relative to the first, so that floats are exact
    starts, ends = (np.array([each[at] - origin for each in seen], float) for at in (0, 1))
    least = np.array([each.began_host_ns - each.start_ns - low for each in seen], float)
    most = np.array([each.over_host_ns - each.end_ns - low for each in seen], float)

    def bounds(drift: float) -> tuple[float, float]:
        return float((least - drift * starts).max()), float((most - drift * ends).min())

    def room(drift: float) -> float:
        lowest, highest = bounds(drift)
        return highest - lowest

    left, right = -MOST_DRIFT, MOST_DRIFT  # the room is a concave function of the drift
    for _ in range(_STEPS):
        third = (right - left) / 3
        if room(left + third) < room(right - third):
            left += third
        else:
            right -= third
    drift = (left + right) / 2
    lowest, highest = bounds(drift)
    offset = low + round((lowest + highest) / 2)
    return Alignment(origin, offset, drift, abs(highest - lowest) / 2, is_consistent=highest >= lowest)


#: From one process's number to the next one's. Those between are its threads': Perfetto takes threads of one number
#: for one thread, whatever their processes are, the one with the process's own for its main thread, and 0 for none.
PROCESS_STEP: Final = 10_000


class TimelineTables(Protocol):
    """The tables of a run that this needs."""

    @property
    def path(self) -> Path: ...
    @property
    def cases(self) -> pd.DataFrame: ...
    @property
    def samples(self) -> pd.DataFrame: ...
    @property
    def events(self) -> pd.DataFrame: ...


@dataclass(frozen=True)
class ProcessTimeline:
    """The timeline of one process of a variant: its only process or one rank.

    Attributes:
        pid: number of the process, and of its first thread.
        variant: its name.
        title: title of the process.
        events: rows of commands, with times on the device's clock.
        calls: rows of other work on the host; empty without a traced execution.
        facts: facts about the whole execution.
    """

    pid: int
    variant: str
    title: str
    events: Sequence[Row]
    calls: Sequence[Row]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def clocks(self) -> dict[int, Alignment]:
        """The mapping of each clock."""
        by_clock: dict[int, list[Row]] = {}
        for event in self.events:
            by_clock.setdefault(event["clock"] or 0, []).append(event)
        return {clock: self._aligned(own) for clock, own in by_clock.items()}

    def _aligned(self, events: Sequence[Row]) -> Alignment:
        first = min(first_ns(event) for event in events)
        if not self.calls:
            return Alignment(first, -first, 0.0, 0.0, is_consistent=True)
        begin, end = self.calls[0]["submit_began_host_ns"], self.calls[0]["submit_ended_host_ns"]
        return align(
            [
                Seen(
                    int(event["start_ns"]),
                    end_ns(event),
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
        """The time of the first event."""
        firsts = [self.on_host(event, int(event["start_ns"])) for event in self.events]
        return min([*firsts, *(int(call["submit_began_host_ns"]) for call in self.calls)])

    def clock_facts(self) -> list[dict[str, Any]]:
        """Describe how the device's times were mapped to the host's clock."""
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


def variants_of(run: TimelineTables, pattern: str) -> list[list[ProcessTimeline]]:
    """The processes of each case that has something to show."""
    cases = run.cases[run.cases["pattern"] == pattern]
    samples = run.samples[run.samples["case_id"].isin(cases["case_id"])]
    counted = usable(cases, samples)
    shown = executions(samples, counted[counted["sample_id"].isin(run.events["sample_id"])])
    events = run.events[run.events["sample_id"].isin(shown["sample_id"])]
    medians = median_ns(counted)
    found = of_cases(rows(cases), by_key(shown, "case_id"), by_key(events, "sample_id"), medians)
    if not found:
        raise XebenchError(
            f"{pattern} has no sample with events that counts in {run.path}: 'xebench report' shows what became of it"
        )
    return found


def executions(samples: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``samples`` that traces show: each case's traced execution, else what counts of median time."""
    traced = samples[samples["state"] == State.TRACED]
    if not traced.empty:
        return traced.groupby("case_id", sort=False).tail(1)  # a resumed run may have traced a case again
    groups = counted.groupby(["case_id", "state"], sort=False)
    return pd.concat([_nearest_to_median(own) for _, own in groups] or [counted])


def median_ns(counted: pd.DataFrame) -> dict[str, float]:
    """The time of each case's samples, by case_id."""
    return {str(case_id): float(value) for case_id, value in counted.groupby("case_id")["time_ns"].median().items()}


def by_key(data: pd.DataFrame, column: str) -> dict[Any, list[Row]]:
    """The rows of a frame by the value of a column."""
    found: dict[Any, list[Row]] = {}
    for row in rows(data):
        found.setdefault(row[column], []).append(row)
    return found


def of_cases(
    cases: Sequence[Row],
    shown: Mapping[Any, Sequence[Row]],
    events: Mapping[Any, Sequence[Row]],
    medians: Mapping[str, float],
) -> list[list[ProcessTimeline]]:
    """The processes of each execution of some cases; arguments as of `xebench.report.trace_events.variants`."""
    found: list[list[ProcessTimeline]] = []
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
            processes = _processes(1 + sum(map(len, found)), case["variant"], _title(case, sample), own, facts)
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


def _processes(
    first: int, variant: str, title: str, events: Sequence[Row], facts: Mapping[str, Any]
) -> list[ProcessTimeline]:
    """The processes of one execution: a single one, or one for each rank."""
    found: list[ProcessTimeline] = []
    for rank in sorted({event["mpi_rank"] for event in events}, key=lambda rank: rank or 0):
        own = [event for event in events if event["mpi_rank"] == rank]
        commands = [event for event in own if event["start_ns"] is not None and event["end_ns"] is not None]
        calls = [event for event in own if event["end_ns"] is None and event["submit_began_host_ns"] is not None]
        if commands or calls:
            name = title if rank is None else f"{title}, rank {rank}"
            found.append(ProcessTimeline((first + len(found)) * PROCESS_STEP, variant, name, commands, calls, facts))
    return found


def first_ns(event: Row) -> int:
    """The first time of an event on its device: a submission may be missing, or seem to lie too late."""
    return int(min(event["start_ns"], event["start_ns"] if event["submit_ns"] is None else event["submit_ns"]))


def end_ns(event: Row) -> int:
    """A event never ends before its start, whatever its timestamps say."""
    return max(int(event["start_ns"]), int(event["end_ns"]))
