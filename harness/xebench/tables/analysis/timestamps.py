"""Timestamps are not trusted: what the events of one sample must satisfy.

Each broken rule is a flag of the sample (`xebench.vocabulary.Flag`), which is kept and shown; a flag that spoils what
a metric is read from makes it invalid, so that no statistic uses it. Seen in the wild: submission timed as execution,
stale times of reused events, starts before submits, clocks that wrap.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from xebench.tables.analysis.metrics import EventTimes, span_ns, union_ns
from xebench.vocabulary import Flag

#: Fewest quanta of the profiling timer for a sample that is not `Flag.SHORT`.
MIN_QUANTA: Final = 10

#: Part by which the device's clock may run faster than the host's before a sample does not fit into the host's time.
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
