"""Turn samples into rows of the tables, and send them between the samples rather than within."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from xebench.measuring.machine_monitor import FLAGS, MachineMonitor
from xebench.measuring.messages import TableRows
from xebench.tables.analysis import metrics
from xebench.tables.analysis.metrics import EventTimes, HostCall
from xebench.vocabulary import State

if TYPE_CHECKING:
    from xebench.measuring.place import CompiledStage

# A crash must not cost more than this much of what was measured.
FLUSH_AFTER_S = 0.05

# How often somebody looks for rows that are stuck behind a sample which hangs; seldom, since it may disturb a sample.
STUCK_AFTER_S = 0.25


#: Seconds that a visit to a family waits for a throttled device in all, and from one look to the next.
COOLING_S = 5.0
COOLING_LOOK_S = 0.25


class Receives(Protocol):
    """Takes rows: a pipe to the manager (`system.children.channel.Sender`), or who keeps them in this process."""

    def send(self, message: TableRows, /) -> None:
        """Take some rows of one table."""


@dataclass
class RowStream:
    """Rows of one family on their way to the manager, a range of samples at a time.

    Attributes:
        sender: where to.
        case_ids: key of the case by variant.
        first_sample: number of the first sample.
        clock: seconds.
        compiled: variants that have their rows of compilation already, and send no more of them.
        sleep: waits for some seconds.
        is_throttled: whether the device was, when the machine was looked at last, and has time left to cool.
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
        """Queue the row of one sample and the rows of its commands and calls; gives whether the sample counts."""
        row = self._queue(variant, measured, commands, calls)
        self._flush_old()
        return bool(row["valid"])

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
        """Send everything that is queued, and what the machine was like meanwhile."""
        with self._lock:
            machine = self._observe(self._monitor) if self._monitor is not None and self._samples else []
            # events first: whoever reads a killed run's samples finds the events of each
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
        # it may send rows while the thread that measures sends a message of its own: a `Sender` keeps the two apart
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
