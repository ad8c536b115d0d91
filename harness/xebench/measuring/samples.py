"""Take one sample of a variant, flag what is wrong with it, and choose the samples that a check follows.

Samples become rows of the tables, which are sent between the samples rather than within.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Protocol

from xebench.errors import XebenchError
from xebench.measuring.machine_monitor import FLAGS, MachineMonitor, RunningClock
from xebench.measuring.messages import TableRows
from xebench.measuring.place import CacheFlusher, CompiledStage
from xebench.measuring.sampling import least_ns
from xebench.patterns.pattern import Variant
from xebench.records.events import EventTimes, HostCall
from xebench.results.analysis import metrics
from xebench.session.recorder import MeasuredSample
from xebench.vocabulary import Flag, Metric, State, is_valid, metric_named

if TYPE_CHECKING:
    from xebench.measuring.place import CompiledStage


# Seconds of measurements that a crash may cost at most.
FLUSH_AFTER_S = 0.05

# Seconds between checks for rows stuck behind a hanging sample; long, since a check may disturb a sample.
STUCK_AFTER_S = 0.25


#: Seconds that a round waits for a throttled device in total, and between two looks.
COOLING_S = 5.0
COOLING_LOOK_S = 0.25


class Receives(Protocol):
    """A receiver of rows: a pipe to the manager (`system.children.worker.Sender`), or a store in this process."""

    def send(self, message: TableRows, /) -> None:
        """Take some rows of one table."""


@dataclass
class RowStream:
    """Rows of one family on their way to the manager, a range of samples at a time.

    Attributes:
        sender: receiver of the rows.
        case_ids: key of each variant's case.
        first_sample: number of the first sample.
        clock: seconds.
        compiled: variants whose compilation is recorded, so that no more rows of it are sent.
        sleep: waits for some seconds.
        is_throttled: True if the device was throttled at the last look and there is time to let it cool.
    """

    sender: Receives
    case_ids: Mapping[str, str]
    first_sample: int
    clock: Callable[[], float] = time.monotonic
    compiled: Container[str] = ()
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        self._next_sample = self.first_sample
        self._samples: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._flushed = self.clock()
        self._monitor: MachineMonitor | None = None
        self.is_throttled = False
        self._patience_s = COOLING_S
        # of the rows that are queued: the thread that measures and the helper of `watched` both send them
        self._lock = threading.Lock()

    def add_sample(
        self,
        variant: str,
        measured: Mapping[str, Any],
        commands: Sequence[EventTimes],
        calls: Sequence[HostCall] = (),
    ) -> bool:
        """Queue the row of one sample and the rows of its commands and calls; return True if the sample counts."""
        row = self._queue(variant, measured, commands, calls)
        self._flush_old()
        return bool(row["valid"])

    def begin_sample(self) -> None:
        """A sample begins."""
        if self._monitor is not None:
            self._monitor.begin_sample()

    def waited(self, *, on_device_clock: bool) -> float | None:
        """The part of the core time that others had since `begin_sample`: see `MachineMonitor.waited`."""
        return None if self._monitor is None else self._monitor.waited(on_device_clock=on_device_clock)

    def let_cool(self) -> None:
        """Wait while the device is throttled. What was sampled while it was does not count, and is taken again.

        A device that is throttled for longer than `COOLING_S` in all is measured as it is, with the flag.
        """
        assert self._monitor is not None
        while self.is_throttled:
            self.sleep(COOLING_LOOK_S)
            self._patience_s -= COOLING_LOOK_S
            with self._lock:
                _, changed = self._monitor.observe()
            self.is_throttled = "throttled" in changed and self._patience_s > 0

    def _queue(
        self,
        variant: str,
        measured: Mapping[str, Any],
        commands: Sequence[EventTimes],
        calls: Sequence[HostCall] = (),
    ) -> dict[str, Any]:
        key = {"case_id": self.case_ids[variant], "sample_id": self._next_sample}
        self._next_sample += 1
        events = [
            {**key, "sequence": sequence, **command._asdict(), "queue": f"q{command.queue}"}
            for sequence, command in enumerate(commands)
        ]
        events += [{**key, "sequence": n, **call._asdict()} for n, call in enumerate(calls, len(events))]
        row = {**key, **measured}
        with self._lock:
            self._samples.append(row)
            self._events += events
        return row

    def add_compilations(self, variant: str, stages: Sequence[CompiledStage], host_ns: int) -> None:
        """Send the rows of a variant's first call: each stage of compilation, and the rest as ``launch``.

        All at once, since a worker that goes on with what is left of the family sends no more of them.
        """
        if variant in self.compiled:
            return
        rest = max(0, host_ns - sum(stage.host_ns for stage in stages))
        told = [(stage.stage, stage.cached, stage.host_ns) for stage in stages]
        for name, cached, took_ns in [*told, ("launch", False, rest)]:
            self._queue(
                variant,
                {
                    "block": -1,
                    "order": -1,
                    "instance": None,
                    "state": State.COMPILE,
                    "stage": name,
                    "cached": cached,
                    "batch": 1,
                    "host_ns": took_ns,
                    "valid": True,
                    "sample_flags": "",
                },
                (),
            )
        self.flush()

    def flush(self) -> None:
        """Send all queued rows, and the machine's state meanwhile."""
        with self._lock:
            machine = self._observe(self._monitor) if self._monitor is not None and self._samples else []
            # events first, so that a killed run has the events of each of its samples
            for table, rows in (("events", self._events), ("samples", self._samples), ("machine", machine)):
                if rows:
                    self.sender.send(TableRows(table, rows))
            self._samples, self._events = [], []
            self._flushed = self.clock()

    @contextmanager
    def watched(self, monitor: MachineMonitor) -> Iterator[None]:
        """Watch samples: the monitor is read once for each range of samples, and a hang costs no row."""
        self.flush()
        self._monitor = monitor
        over = threading.Event()
        # the measuring thread may send a message at the same time: a `Sender` keeps the two apart
        helper = threading.Thread(target=self._send_stuck, args=(over,), daemon=True)
        helper.start()
        try:
            yield
        finally:
            over.set()
            helper.join()
            self.flush()
            self._monitor = None

    def _flush_old(self) -> None:
        if self._samples and self.clock() - self._flushed > FLUSH_AFTER_S:
            self.flush()

    def _send_stuck(self, over: threading.Event) -> None:
        with suppress(BrokenPipeError):  # the other thread meets it too, and ends the worker
            while not over.wait(STUCK_AFTER_S):
                self._flush_old()

    def _observe(self, monitor: MachineMonitor) -> list[dict[str, Any]]:
        """The machine's state over the queued samples; when it is another than before, they are marked."""
        reading, changed = monitor.observe()
        for row in self._samples if changed else ():
            row["sample_flags"] = metrics.with_flags(row["sample_flags"], *(FLAGS[name] for name in changed))
        self.is_throttled = "throttled" in changed and self._patience_s > 0
        for row in self._samples if self.is_throttled else ():
            row["valid"] = False
        first, last = self._samples[0]["sample_id"], self._samples[-1]["sample_id"]
        return [{"first_sample": first, "last_sample": last, **reading, "changed": ",".join(changed)}]


#: Least time that a queue must have been busy, and part of the sample's: the query of an idle queue takes about 1 us.
LATE_NS: Final = 20_000
#: Threads of a CPU device that have gone to sleep take as long to wake: calls that do not follow one another at once
#: meet such.
WAKING_NS: Final = 50_000

LATE_PART: Final = 0.1

#: Part of the core time that others had from which a sample is contended.
CONTENDED: Final = 0.1

#: Share of the wanted length below which a sample is short; batches aim at the full length.
SHORT_PART: Final = 0.5

#: Relative margin above the roof for a cold sample, since the roof is measured as well.
ROOF_TOLERANCE: Final = 0.05


@dataclass
class Rules:
    """The rules for the samples of one family in one state; remembers the sample before.

    Attributes:
        metric: device, span, wall or build.
        resolution_ns: quantum of the device's timer.
        bytes_moved: least traffic to memory of one execution, if known.
    """

    metric: str
    resolution_ns: float
    bytes_moved: int | None = None
    _earlier_starts: set[int] = field(default_factory=set)
    _earlier_end_ns: int | None = None
    _late: dict[str, bool] = field(default_factory=dict)

    def broken(
        self,
        variant: str,
        measured: MeasuredSample,
        times: Sequence[EventTimes],
        total_ns: float,
        cold_limit_gbps: float | None = None,
    ) -> tuple[Flag, ...]:
        """The flags of a sample, each once.

        Args:
            variant: variant of the sample.
            measured: measured sample.
            times: times of its commands.
            total_ns: metric of all executions together.
            cold_limit_gbps: bandwidth that only a cache can exceed; None for a hot sample.
        """
        flags = list(
            metrics.flags(
                times,
                host_ns=measured.host_ns,
                resolution_ns=self.resolution_ns,
                earlier_starts=self._earlier_starts,
                earlier_end_ns=self._earlier_end_ns,
            )
        )
        self.remember(times)
        short_ns = SHORT_PART * least_ns(self.metric, self.resolution_ns)
        if 0 < total_ns < short_ns and Flag.SHORT not in flags:
            flags.append(Flag.SHORT)
        if cold_limit_gbps is not None and self._from_cache(times, cold_limit_gbps):
            flags.append(Flag.NOT_COLD)
        if self._late_again(variant, measured):
            flags.append(Flag.UNSYNCHRONISED)
        return tuple(flags)

    def remember(self, times: Sequence[EventTimes]) -> None:
        """Take note of commands that came before the next sample: of the last one, or of a check after it."""
        if times:
            self._earlier_starts = {event.start_ns for event in times}
            self._earlier_end_ns = max(event.end_ns for event in times)

    def _late_again(self, variant: str, measured: MeasuredSample) -> bool:
        # a single late sample may be the system's doing; forgotten work is late every time
        before = self._late.get(variant, False)
        self._late[variant] = is_late(measured)
        return before and self._late[variant]

    def _from_cache(self, times: Sequence[EventTimes], limit_gbps: float) -> bool:
        busy_ns = metrics.union_ns(times)
        return (self.bytes_moved or 0) > limit_gbps * (1 + ROOF_TOLERANCE) * busy_ns > 0


def is_late(measured: MeasuredSample, least_ns: int = LATE_NS) -> bool:
    """True if queues still had much work after the end of all recorded commands.

    Args:
        measured: measured call.
        least_ns: shortest time that counts, in ns.
    """
    return measured.late_ns > max(least_ns, LATE_PART * measured.host_ns)


def times_of(measured: MeasuredSample) -> dict[Metric, float]:
    """Every metric of a sample in ns, of all its executions together."""
    # devices with separate clocks work side by side, so the longest time counts
    totals = [metrics.sample_times(own, measured.host_ns, measured.build_ns) for own in measured.times_by_clock()]
    return {kind: max(own[kind] for own in totals) for kind in Metric}


@dataclass(frozen=True)
class SampleTaker:
    """Takes the samples of one family in one state and one instance.

    Attributes:
        rows: receiver of the samples' rows.
        new_rules: function that makes the rules for suspect samples.
        flusher: flusher for cold samples; None for hot ones.
        instance: number of the family's instance.
        no_command: error message for a variant that records no command; may contain ``{name}``.
        data_set: number of the data set; None without data sets.
        clock: clock that detects if the process was stopped meanwhile.
        noted: callback with each variant and its sample.
    """

    rows: RowStream
    new_rules: Callable[[], Rules]
    flusher: CacheFlusher | None = None
    instance: int = 0
    no_command: str = ""
    data_set: int | None = None
    clock: RunningClock = field(default_factory=RunningClock)
    noted: Callable[[Variant, MeasuredSample], None] = lambda variant, measured: None
    _rules: dict[Any, Rules] = field(default_factory=dict)

    def rules_of(self, variant: Variant) -> Rules:
        """The rules of the process in which a variant runs; drivers may begin to count again in each process."""
        if variant.name not in self._rules:
            process = variant.ranks, tuple(sorted(variant.environment.items()))
            self._rules[variant.name] = self._rules.setdefault(process, self.new_rules())
        return self._rules[variant.name]

    @property
    def flush(self) -> Callable[[], None] | None:
        """Flush the caches before a sample."""
        return None if self.flusher is None else self.flusher.flush

    def take(
        self, variant: Variant, sample: Callable[[], MeasuredSample], batch: int, *, state: str, block: int, order: int
    ) -> float:
        """Take one sample, queue its row, and return its metric in ns for one execution; NaN if it is not valid.

        Raises:
            XebenchError: nothing was recorded.
        """
        flusher, rules = self.flusher, self.rules_of(variant)
        self.clock.was_stopped()  # before it: that is no matter of this sample
        self.rows.begin_sample()
        measured = sample()
        stopped = self.clock.was_stopped()
        executions = measured.times_by_clock()[0]
        totals_ns = times_of(measured)
        self.noted(variant, measured)
        metric = metric_named(rules.metric)
        if metric.on_device_clock and not measured.events:
            raise XebenchError(self.no_command.format(name=variant.name))
        waited = self.rows.waited(on_device_clock=metric.on_device_clock)
        total_ns = totals_ns[metric]
        limit_gbps = None if flusher is None else flusher.limit_gbps
        times = list(chain.from_iterable(executions))
        flags = rules.broken(variant.name, measured, times, total_ns, limit_gbps)
        if flusher is not None and not flusher.covers:
            flags = (*flags, Flag.CACHE_UNKNOWN)
        if stopped:
            flags = (*flags, Flag.STOPPED)
        if waited is not None and waited > CONTENDED:
            flags = (*flags, Flag.CONTENTION)
        valid = is_valid(flags, metric)
        counts = self.rows.add_sample(
            variant.name,
            {
                "block": block,
                "order": order,
                "instance": self.instance,
                "state": state,
                "batch": batch,
                "data_set": self.data_set,
                "events": measured.command_count // batch,
                **{kind.column: time_ns / batch for kind, time_ns in totals_ns.items()},
                "queue_ns": sum(map(metrics.queue_ns, executions)) / batch,
                "session_ns": measured.session_ns / batch,
                "waited": waited,
                "valid": valid,
                "sample_flags": ",".join(flags),
            },
            measured.events,
        )
        return total_ns / batch if counts else math.nan


class SpotChecks:
    """Chooses the sample of a round after which a variant is checked.

    Args:
        source: source of random numbers.
        blocks: number of first blocks from which the sample is drawn.
        clock: seconds.
    """

    def __init__(self, source: random.Random, blocks: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._blocks = blocks
        self._clock = clock
        self._spent_s = 0.0
        self._left: dict[str, int] = {}

    def due(self, variant: str) -> bool:
        """True if a check follows the sample of a variant that was taken just now."""
        left = self._left.setdefault(variant, self._source.randrange(self._blocks))
        self._left[variant] = left - 1
        return left == 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of a check."""
        begin = self._clock()
        try:
            yield
        finally:
            self._spent_s += self._clock() - begin

    def sampling_clock(self) -> float:
        """The clock without the time of checks, which is no sampling."""
        return self._clock() - self._spent_s
