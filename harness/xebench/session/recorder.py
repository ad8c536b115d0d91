"""Collect the device events of one sample, and read their profiling times when it is over."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

from xebench.records.events import EventTimes, HostCall


class TimedEvent(Protocol):
    """A device event that can be waited for and has profiling times."""

    def wait(self) -> None:
        """Return when the event has finished."""

    def times(self) -> tuple[int, int, int]:
        """Submit, start and end, in ns of the device's clock."""


class Traffic(NamedTuple):
    """The bytes that a copy or a fill writes, and its route.

    ``route`` is of a copy: kinds of memory, as the probes of the host link have them, such as ``pageable_to_device``.
    """

    bytes: int | None
    route: str | None = None


#: Traffic of an event that is neither a copy nor a fill.
NO_TRAFFIC: Final = Traffic(None)

#: Clock numbers of queues, if all share one clock.
ONE_CLOCK: Final[Mapping[int, int]] = MappingProxyType({})


@dataclass(frozen=True)
class MeasuredSample:
    """One sample.

    Attributes:
        host_ns: host time from the first call to the end of all recorded commands.
        late_ns: further time until the queues were idle: the sample submitted unrecorded commands.
        executions: the events of each execution.
        build_ns: the part of ``host_ns`` in which the driver built kernels.
        begin_ns: start of ``host_ns``, on the host's clock, which all processes share.
        calls: host calls of a traced execution.
        kernels: identities of kernels that the variant launched for the first time.
        session_ns: the part of ``host_ns`` that passed in calls of the session that submit.
        doubt: reason to doubt these times, with its cure; "" if there is none.
        launches: number of launches and of their work-items in a traced execution, by kernel.
    """

    host_ns: int
    late_ns: int
    executions: Sequence[Sequence[EventTimes]]
    build_ns: int = 0
    begin_ns: int = 0
    calls: Sequence[HostCall] = field(default_factory=list)
    kernels: Sequence[dict[str, Any]] = field(default_factory=list)
    session_ns: int = 0
    doubt: str = ""
    launches: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of_ranks(cls, ranks: Sequence[MeasuredSample]) -> MeasuredSample:
        """The joint time of ranks: from the beginning of the first until the last is done.

        Ranks build, and do unrecorded work, side by side, so the longest time counts. Each rank has its own clocks,
        since device times of two processes cannot be compared.
        """
        begin_ns = min(own.begin_ns for own in ranks)
        events: list[EventTimes] = []
        clocks = 0
        for rank, own in enumerate(ranks):
            events += [event._replace(mpi_rank=rank, clock=clocks + event.clock) for event in own.events]
            clocks += 1 + max((event.clock for event in own.events), default=0)
        return cls(
            max(own.begin_ns + own.host_ns for own in ranks) - begin_ns,
            max(own.late_ns for own in ranks),
            [events],
            build_ns=max(own.build_ns for own in ranks),
            begin_ns=begin_ns,
            doubt=next((own.doubt for own in ranks if own.doubt), ""),
            session_ns=max(own.session_ns for own in ranks),
            calls=[call._replace(mpi_rank=rank) for rank, own in enumerate(ranks) for call in own.calls],
        )

    @property
    def events(self) -> list[EventTimes]:
        """The events of all executions, in order."""
        return [event for execution in self.executions for event in execution]

    @property
    def command_count(self) -> int:
        """The number of commands of all executions, without barriers."""
        return sum(event.kind != "barrier" for event in self.events)

    def times_by_clock(self) -> list[list[list[EventTimes]]]:
        """Times of the events of each execution, for each clock: times of two devices cannot be compared."""
        last = max((event.clock for event in self.events), default=0)
        return [
            [[event for event in execution if event.clock == clock] for execution in self.executions]
            for clock in range(last + 1)
        ]


class Pending(NamedTuple):
    """A command that was submitted; library work lies between two of them."""

    kind: str
    name: str
    queue: int
    first: TimedEvent
    last: TimedEvent
    traffic: Traffic = NO_TRAFFIC


class Recorder:
    """Remembers what was submitted since :meth:`begin`, by any thread.

    Threads share it without a lock: what is timed only appends to a list, which is one step of the interpreter. The
    events of a thread stay in its order.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget everything."""
        self._pending: list[Pending] = []
        self._finished = 0
        self._ends: list[int] = []

    def add(self, kind: str, name: str, queue: int, event: TimedEvent, traffic: Traffic = NO_TRAFFIC) -> None:
        """Remember one event."""
        self._pending.append(Pending(kind, name, queue, event, event, traffic))

    def add_bracket(self, name: str, queue: int, first: TimedEvent, last: TimedEvent) -> None:
        """Remember library work between two barriers: it lies between the first's end and the last's start."""
        self._pending.append(Pending("library", name, queue, first, last))

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Kind and name of each event, in the order of submission."""
        return [(event.kind, event.name) for event in self._pending]

    def wait(self) -> None:
        """Wait for every event."""
        # a sample may wait thousands of times: commands waited for earlier are not queried again
        begin = self._finished
        waiting = self._pending[begin:]
        for event in waiting:
            event.last.wait()
        self._finished = begin + len(waiting)  # other threads may have added events meanwhile

    def end_execution(self) -> None:
        """Wait for every event; what comes later belongs to another execution of the same sample."""
        self.wait()
        self._ends.append(self._finished)

    def collect(self, clocks: Mapping[int, int] = ONE_CLOCK) -> list[list[EventTimes]]:
        """The times of the events of each ended execution, in the order of their submission.

        Args:
            clocks: numbers of the devices' clocks by queue, where they are not 0.
        """
        times = [self._read(event, clocks.get(event.queue, 0)) for event in self._pending]
        return [times[begin:end] for begin, end in itertools.pairwise([0, *self._ends])]

    @property
    def is_late(self) -> bool:
        """True if an event came after the last execution."""
        return len(self._pending) > [0, *self._ends][-1]

    def _read(self, event: Pending, clock: int) -> EventTimes:
        submit, start, end = event.first.times()
        if event.kind == "library":
            start, end = end, event.last.times()[1]
        times = submit or None, start, end
        return EventTimes(*times, event.kind, event.name, event.queue, *event.traffic, clock)
