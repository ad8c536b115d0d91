"""The time of a sample by each metric: a function for each word of `xebench.vocabulary.Metric`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from xebench.vocabulary import Metric


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


#: What each metric reads from the commands of one execution, but for those that the host's clock tells.
OF_COMMANDS: Final[Mapping[Metric, Callable[[Sequence[EventTimes]], int]]] = {
    Metric.DEVICE: union_ns,
    Metric.SPAN: span_ns,
}


def sample_times(
    executions: Sequence[Sequence[EventTimes]], host_ns: float, build_ns: float = 0.0
) -> dict[Metric, float]:
    """Every metric of a sample in ns, of all its executions together.

    Args:
        executions: times of the commands of each execution.
        host_ns: host time of all of them.
        build_ns: the part of it in which the driver built kernels.
    """
    by_host = {Metric.WALL: host_ns, Metric.BUILD: build_ns}
    return {
        metric: by_host[metric] if metric in by_host else sum(map(OF_COMMANDS[metric], executions)) for metric in Metric
    }
