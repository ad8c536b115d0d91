"""Timestamps are not trusted: what the events of one sample must satisfy, and the times computed from them.

Each broken rule is a named flag of the sample. Flags in `INVALIDATING` make the sample invalid: it is kept and
shown, but no statistic uses it. Seen in the wild: submission timed as execution, stale times of reused events,
starts before submits, clocks that wrap.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final, NamedTuple

ORDER: Final = "order"
ZERO: Final = "zero"
SHORT: Final = "short"
STALE: Final = "stale"
BACKWARDS: Final = "backwards"
OUTSIDE_HOST: Final = "outside host"
STALE_SUBMIT: Final = "stale submit"
OVERLAP: Final = "overlap"
THROTTLED: Final = "throttled"
NOT_COLD: Final = "not cold"
UNSYNCHRONISED: Final = "unsynchronised"
SHARED: Final = "shared device"
SUPERSEDED: Final = "superseded"

#: What each flag means, for reports.
FLAGS: Final = {
    ORDER: "an event's submit, start and end are not in this order (a clock that wraps looks like this)",
    ZERO: "the events have no duration at all",
    SHORT: "too short for the clock: few quanta of the device's timer, or a wall time of microseconds",
    STALE: "an event starts exactly when one of an earlier sample did: its timestamps are old",
    BACKWARDS: "an event starts before the end of the earlier sample: the device clock went backwards",
    OUTSIDE_HOST: "first start to last end is longer than the host waited: the timing is not synchronised",
    STALE_SUBMIT: "first submit to last end is longer than the host waited, start to end is not: the submission is old",
    OVERLAP: "commands overlap, so their sum is more than the time that they took together",
    NOT_COLD: "a cold sample that was faster than the measured roof of the memory allows",
    UNSYNCHRONISED: "a queue was still busy when everything recorded was over: the sample timed a part of its work",
    THROTTLED: "the machine was in another state than at the start (clock, temperature, load)",
    SHARED: "another run of xebench used the same device",
    SUPERSEDED: "no check of the results came after it, as the run or the worker was cut off: it does not count",
}

#: Flags that make a sample invalid, by metric: the wall time needs no event, only that the host waited. A submission
#: counts in the span only: where DPC++ estimates it from the host's clock, it has been seen to be wrong by 0.5 ms, more
#: the longer the two clocks were not compared, while start and end are right (intel/llvm, pull requests 11324, 18717).
INVALIDATING: Final = {
    "device": frozenset({ORDER, ZERO, STALE, BACKWARDS, OUTSIDE_HOST, NOT_COLD, UNSYNCHRONISED}),
    "span": frozenset({ORDER, ZERO, STALE, BACKWARDS, OUTSIDE_HOST, STALE_SUBMIT, NOT_COLD, UNSYNCHRONISED}),
    "wall": frozenset({OUTSIDE_HOST, NOT_COLD, UNSYNCHRONISED}),
}

#: Fewest quanta of the profiling timer for a sample that is not `SHORT`.
MIN_QUANTA: Final = 10

#: Part by which the device's clock may run faster than the host's before a sample does not fit into the host's time.
CLOCK_TOLERANCE: Final = 0.001


class EventTimes(NamedTuple):
    """Profiling times of one command, in ns of the device's clock."""

    submit_ns: int
    start_ns: int
    end_ns: int


def union_ns(events: Sequence[EventTimes]) -> int:
    """Time during which at least one command ran: overlapping commands count once, gaps not at all.

    Commands whose end is not after their start add nothing.
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
    return max(event.end_ns for event in events) - min(event.submit_ns for event in events)


def queue_ns(events: Sequence[EventTimes]) -> int:
    """First submit to first start: how long the first command waited; 0 without events."""
    if not events:
        return 0
    return min(event.start_ns for event in events) - min(event.submit_ns for event in events)


def with_flags(known: str, *more: str) -> str:
    """A sample's flags as tables keep them, commas between, with more of them; none stands twice."""
    return ",".join(dict.fromkeys(filter(None, (*known.split(","), *more))))


def flags(
    events: Sequence[EventTimes],
    *,
    host_ns: float,
    resolution_ns: float,
    earlier_starts: Container[int] = (),
    earlier_end_ns: int | None = None,
) -> tuple[str, ...]:
    """The rules that a sample breaks, as flags in a fixed order; () for a clean sample or one without events.

    Args:
        events: The sample's commands, all on one device.
        host_ns: From before the first submission to after the last wait, on the host's clock.
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
        ORDER: any(not event.submit_ns <= event.start_ns <= event.end_ns for event in events),
        ZERO: busy == 0,
        SHORT: 0 < busy < MIN_QUANTA * resolution_ns,
        STALE: any(event.start_ns in earlier_starts for event in events),
        BACKWARDS: earlier_end_ns is not None and first_start < earlier_end_ns,
        OUTSIDE_HOST: outside,
        STALE_SUBMIT: not outside and span_ns(events) > longest,
        OVERLAP: sum(max(0, event.end_ns - event.start_ns) for event in events) > busy,
    }
    return tuple(flag for flag, is_broken in broken.items() if is_broken)


def is_valid(flags: Sequence[str], metric: str) -> bool:
    """Whether the metric (device, span or wall) of a sample with these flags may be used."""
    return INVALIDATING[metric].isdisjoint(flags)
