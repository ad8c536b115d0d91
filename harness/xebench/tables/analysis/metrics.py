"""The time of a sample by each metric, and what the timestamps of its events must satisfy.

Each broken rule is a flag of the sample (`xebench.vocabulary.Flag`), which is kept and shown; a flag that spoils what
a metric is read from makes it invalid, so that no statistic uses it. Seen in the wild: submission timed as execution,
stale times of reused events, starts before submits, clocks that wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final, NamedTuple

from xebench.vocabulary import Flag, Metric

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


class EventTimes(NamedTuple):
    """One event of a sample, a command that a device ran; times in ns of the device's clock.

    ``submit_ns`` is None where the driver gives none (seen: copies into pageable host memory on OpenCL).
    ``kind`` is kernel, copy, fill, barrier or library; ``queue`` numbers the session's queues from 0.
    ``bytes`` and ``route`` are of a copy or a fill. ``clock`` numbers the devices' clocks: 0 is that of the session's
    own device and its sub-devices. Times of two clocks cannot be compared. ``mpi_rank`` submitted it; None where there
    are no ranks. Times of the host's clock are known of a traced execution alone: ``submit_began_host_ns`` and
    ``submit_ended_host_ns`` of the call that submitted the command, by the host's ``thread``, and ``over_host_ns``,
    when the host had waited for it.
    """

    submit_ns: int | None
    start_ns: int
    end_ns: int
    kind: str = "kernel"
    name: str = ""
    queue: int = 0
    bytes: int | None = None
    route: str | None = None
    clock: int = 0
    mpi_rank: int | None = None
    submit_began_host_ns: int | None = None
    submit_ended_host_ns: int | None = None
    over_host_ns: int | None = None
    thread: int | None = None

    @property
    def submitted_ns(self) -> int:
        """When it was submitted; a missing submission counts as the start."""
        return self.start_ns if self.submit_ns is None else self.submit_ns


class HostCall(NamedTuple):
    """A host call in a traced execution that submits nothing; times in ns of the host's clock.

    ``kind`` is execution (all of it), wait, allocation, queue, compile, build or line (of the variant's source).
    ``thread`` numbers the threads that called: 0 is the one that runs the variant.
    """

    submit_began_host_ns: int
    submit_ended_host_ns: int
    kind: str
    name: str
    thread: int = 0
    mpi_rank: int | None = None


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


#: What each metric reads from the events of one execution, but for those that the host's clock tells.
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
