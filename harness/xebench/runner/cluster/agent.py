"""A worker of the scheduler: it says what it has, and measures families, one at a time on a shared device.

The families' code runs in worker processes of the agent (`xebench.runner.manager`), as in a run on one machine: a
crash, a hang or too much memory costs a variant there, and not the agent.
"""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from xebench.doctor.examination import cure_of, selftest
from xebench.measuring.device_worker import START_TIMEOUT_S, DeviceWorker, start_worker
from xebench.patterns.plan import Family
from xebench.patterns.registry import local_source
from xebench.results import schema
from xebench.results.analysis.summaries import CheckRow
from xebench.results.provenance import manifest
from xebench.roofs.measure import Store
from xebench.runner.calibration import device_columns
from xebench.runner.cluster.order import Announcement, FamilyOrder, FamilyResult, Order, Software
from xebench.runner.manager import Manager
from xebench.runner.resource_limits import (
    OtherRun,
    RunBudget,
    SharingWatch,
    device_key,
    device_lock,
    host_memory_bytes,
    locks_folder,
    own_folder,
    parse_memory,
)
from xebench.runner.rounds import Rounds
from xebench.runner.run_options import Options
from xebench.system import runtime
from xebench.system.children import Program
from xebench.system.children.process import answer, ask
from xebench.system.runtime import DeviceInfo
from xebench.system.runtime.kernel_compiler import variables_for
from xebench.vocabulary import Flag

#: Seconds between two looks whether the device is free.
LOOK_S: Final = 0.1


@contextmanager
def alone_on(
    device: Mapping[str, Any],
    *,
    poll: Callable[[], None],
    unseen: Callable[[str], object],
    folder: Path | None = None,
) -> Iterator[None]:
    """Reserve a device among the workers of this user and host for this block; the lock ends with the process.

    Args:
        device: row of the device.
        poll: callback while waiting; an exception that it raises ends the wait.
        unseen: callback with the reason why other workers are invisible, if the runtime folder cannot be written.
        folder: folder in which runs register.
    """
    place = (folder or locks_folder()) / device_key(device)
    try:
        own_folder(place)
        lock = os.open(place / "family.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        unseen(f"{place} cannot be written ({error.strerror})")
        yield
        return
    try:
        while not _taken(lock):
            poll()
            time.sleep(LOOK_S)
        yield
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


#: Seconds without a family after which the process that holds the device ends, since a killed command cannot
#: say that it is over.
IDLE_S: Final = 120.0

#: Reports progress to the command: the kind of news (see `Scheduler.news`), and what it is about.
Tell = Callable[[str, str], None]


class RunIsOver(Exception):
    """The command does not wait for the family any more."""


def announce(order: Order) -> Announcement:
    """The device of this host for a run, tested as a run on it would."""
    host, machine = socket.gethostname(), _machine()
    if different := order.software.difference(Software.here(order.software.files)):
        return Announcement(host, machine, different=different)
    asked = [order.recipe.device, *(["--require-gpu"] if order.recipe.require_gpu else [])]
    answer = ask(Program.DEVICE_PROBE, asked, timeout_s=START_TIMEOUT_S)
    if answer.failure is not None:
        return Announcement(host, machine, unfit=answer.failure)
    device = msgspec.convert(answer.value["device"], DeviceInfo)
    failures = selftest(device.device).failures
    unfit = f"{device.device} failed its self-test ({failures[0]}): {cure_of(failures[0])}" if failures else ""
    facts = manifest((), asdict(runtime.describe_machine()), runtime.relevant_environment())
    facts["drivers"] = answer.value["drivers"]
    return Announcement(host, machine, device, answer.value["lanes"], unfit=unfit, facts=facts)


def _machine() -> str:
    """The same for all workers of a machine, and another on every other."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@dataclass
class Agent:
    """Measures families on the device of a worker.

    Attributes:
        order: order of the run.
        announced: announcement of the worker.
        tell: function that reports to the command.
    """

    order: Order
    announced: Announcement
    tell: Tell

    def __post_init__(self) -> None:
        device = self.announced.device
        assert device is not None  # a worker without one is sent no family
        order = self.order
        self._options = Options(
            output=Path(order.run),
            recipe=order.recipe,
            timeout_s=order.timeout_s,
            run_budget_s=order.run_budget_s,
            roofs=Store(),
        )
        self._device = device
        self._row: dict[str, Any] = {
            **dict.fromkeys(schema.columns("devices")),
            **device.to_row(),
            "host": self.announced.host,
            "selftest": "ok",
        }
        self._calibrated = (self.announced.host, device.device) in order.calibrated
        self._watch = SharingWatch(None, self._tell_of_other_run)
        self._rows = _Rows()
        self._others_told: set[str] = set()
        self._over = threading.Event()
        self._busy = threading.Lock()
        self._idle: threading.Timer | None = None
        self._manager = Manager(
            self._row,
            self._rows,
            DeviceWorker(
                lambda environment: start_worker(
                    device.device,
                    {**environment, **variables_for(order.recipe.compiler)},
                    memory_limit_bytes=parse_memory(order.memory_limit, host_memory_bytes()),
                    poll=self._poll,
                )
            ),
            sampling=self._options.sampling(),
            timeout_s=self._options.silence_s(),
            seed=order.recipe.seed,
            first=(0, order.first_block),
            notice=lambda variant: self.tell("variant", variant),
            say=self._say,
            sample_flags=lambda: (Flag.SHARED,) if self._watch.shared() else (),
        )

    def measure(self, asked: FamilyOrder) -> FamilyResult:
        """Measure a family, with all of its rounds.

        Raises:
            RunIsOver: the command does not wait for it any more.
            XebenchError: the device cannot be used.
        """
        with self._busy:
            self._stop_idling()
            try:
                with alone_on(self._row, poll=self._stop_when_over, unseen=self._say):
                    return self._measure(asked)
            finally:
                if not self._over.is_set():
                    self._idle = threading.Timer(IDLE_S, self._rest)
                    self._idle.daemon = True
                    self._idle.start()

    def close(self) -> None:
        """End what is being measured, and the process that holds the device."""
        self._over.set()
        with self._busy:
            self._stop_idling()
            self._manager.close()

    def _measure(self, asked: FamilyOrder) -> FamilyResult:
        run_budget = RunBudget(asked.left_s)
        lock = device_lock(self._row, Path(self.order.run), exclusive=self.order.exclusive, unseen=self._say)
        family = self._local(asked)
        with lock as held:
            self._watch = SharingWatch(held, self._tell_of_other_run)
            self.tell("begin", family.title())
            if not self._calibrated:
                self._calibrate()
            self._rows.take()
            told, first = _Results(), self._manager.next_sample
            share_s = None if asked.share_s is None else min(asked.share_s, run_budget.left_s())
            plan = replace(self._options, run_budget_s=share_s).round_plan()
            unfinished = Rounds([family], self._manager, plan, RunBudget(share_s), told, held=nullcontext).run()
        if unfinished.never:
            self._manager.announce(unfinished.never, f"not measured: {RunBudget(self.order.run_budget_s).spent}")
        lacks = len(unfinished.never) + unfinished.cut_off
        killed = bool(unfinished.cut_off) and self._manager.worker_was_killed
        self._manager.worker_was_killed = False
        tables = self._rows.take()
        end = self._manager.next_sample
        return FamilyResult(self._row, tables, first, end, told.results, killed, lacks, unfinished.wide)

    def _calibrate(self) -> None:
        """Measure the device's roofs and the instrument's own error, once in a run."""
        self.tell("variant", "roofs")
        preset, store = self.order.recipe.preset, self._options.roofs
        self._row.update(device_columns(self._manager, self._device, store, preset))
        self._calibrated = True

    @staticmethod
    def _local(asked: FamilyOrder) -> Family:
        pattern = asked.family.pattern
        here = msgspec.structs.replace(pattern, source=local_source(pattern.source))
        return replace(asked.family, pattern=here)

    def _poll(self) -> None:
        self._stop_when_over()
        self._watch.shared()

    def _stop_when_over(self) -> None:
        if self._over.is_set():
            raise RunIsOver

    def _tell_of_other_run(self, run: OtherRun) -> None:
        if str(run) not in self._others_told:
            self._others_told.add(str(run))
            self._say(f"another run uses {self._device.name} ({run}): samples taken meanwhile are marked")

    def _say(self, text: str) -> None:
        self.tell("say", text)

    def _rest(self) -> None:
        if self._busy.acquire(blocking=False):
            try:
                self._manager.close()
            finally:
                self._busy.release()

    def _stop_idling(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None


@dataclass
class _Rows:
    """Rows on their way to the command: a manager's sink."""

    _tables: list[tuple[str, list[Mapping[str, Any]]]] = field(default_factory=list)

    def append(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take rows of a table."""
        self._tables.append((table, [dict(row) for row in rows]))

    def append_checks(self, checks: Iterable[CheckRow]) -> None:
        """Take checks."""
        self.append("checks", [check._asdict() for check in checks])

    def take(self) -> list[tuple[str, list[Mapping[str, Any]]]]:
        """The rows since the last call."""
        taken, self._tables = self._tables, []
        return taken


@dataclass
class _Results:
    """The results of a family's rounds: the progress of one family."""

    results: Sequence[tuple[str, str]] = ()

    def say(self, text: str) -> None:
        """Ignore the text: nothing is printed here."""

    def stage(self, text: str) -> None:
        """There is no stage."""

    def family(self, done: int, total: int, name: str, left_s: float | None = None) -> None:
        """There is one."""

    def variant(self, name: str) -> None:
        """Do nothing: the manager reports."""

    def finished(self, name: str, results: Sequence[tuple[str, str]]) -> None:
        """Keep the results."""
        self.results = results


def chosen(arguments: list[str]) -> dict[str, Any]:
    """The device that answers a request, the work-items that fill it, and all drivers by device.

    Raises:
        NoDevice: none does.
        BrokenEnvironment: the SYCL runtime cannot be loaded.
    """
    request, *flags = arguments
    runtime.load()
    device = runtime.select_device(request, require_gpu="--require-gpu" in flags).device

    import dpctl  # can be imported once the runtime is loaded

    from xebench.session.spread import device_lanes

    return {
        "device": asdict(device),
        "lanes": device_lanes(dpctl.SyclDevice(device.device)),
        "drivers": {each.device: each.driver_version for each in runtime.list_devices()},
    }


if __name__ == "__main__":
    answer(chosen)
