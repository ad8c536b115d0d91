"""The workers of a run, and its families as their tasks, until the last of them is in the run folder."""

from __future__ import annotations

import math
import queue
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from xebench.errors import NoDevice, XebenchError, describe_error, first_line
from xebench.measuring.case_rows import CaseResult, fixed_columns
from xebench.measuring.sampling import Clock
from xebench.patterns.plan import Family
from xebench.patterns.registry import portable_source
from xebench.records.points import DeviceKey, device_key, measured_at, problem_id, rows
from xebench.results import Run, RunWriter
from xebench.results.analysis.summaries import superseding
from xebench.runner import resume
from xebench.runner.cluster.order import Announcement, FamilyOrder, FamilyResult, Order
from xebench.runner.cluster.scheduler import Scheduler, SchedulerLost
from xebench.runner.manager import END_GRACE_S
from xebench.runner.resource_limits import RunBudget, StopSignals
from xebench.runner.run_options import Progress
from xebench.system.runtime import DeviceInfo
from xebench.vocabulary import DeviceClass, Status

#: Seconds between two checks which workers are present.
LOOK_AGAIN_S: Final = 1.0

#: Seconds that a run waits for a worker after the last one is gone: a nanny needs some to start another.
WAIT_S: Final = 60.0


class Workers:
    """The workers that can measure, all on devices of one class.

    Args:
        scheduler: scheduler of the workers.
        order: order of the run.
        progress: progress display, called when workers come and go.
        clock: seconds, for tests.

    Attributes:
        device_class: class of the devices.

    Raises:
        XebenchError: one has other software, or two machines have one name.
        NoDevice: none has a requested device.
    """

    def __init__(self, scheduler: Scheduler, order: Order, progress: Progress, clock: Clock = time.monotonic) -> None:
        self._scheduler, self._order, self._progress, self._clock = scheduler, order, progress, clock
        told = dict(scheduler.announcements(order))
        for address, one in told.items():
            if one.different:
                raise XebenchError(f"the worker {address} on {one.host} {one.different}")
        _check_names(told.values())
        offered = {one.offers for one in told.values()}
        self.device_class = str(DeviceClass.GPU if DeviceClass.GPU in offered else DeviceClass.CPU)
        self._able = {address: one for address, one in told.items() if one.offers == self.device_class}
        if not self._able:
            reasons = "; ".join(sorted({f"{one.host}: {one.unfit}" for one in told.values()}))
            raise NoDevice(
                f"no worker of {scheduler.address} has a device to measure on ({reasons or 'none is ready'})"
            )
        self._hosts = {one.host: one for one in told.values() if one.offers}
        self._told, self._before = set(told), set(self._able)
        self._looked_s = self._seen_s = clock()
        self._tell(told)

    def _tell(self, told: dict[str, Announcement]) -> None:
        if _asks_auto(self._order) and self.device_class == DeviceClass.CPU:
            self._progress.say("no worker has a GPU: falling back to CPU devices")
        for address, one in told.items():
            if address in self._able and one.device is not None:
                device = one.device
                self._progress.say(f"{one.host}: {device.name} ({device.device}, driver {device.driver_version})")
            else:
                self._progress.say(f"{one.host} is left out: {one.unfit or f'no {self.device_class}'}")
        places = [(one.host, one.device.device) for one in self._able.values() if one.device is not None]
        for (host, filter_string), count in Counter(places).items():
            if count > 1:
                what = f"{count} workers share {filter_string} of {host}"
                self._progress.say(f"{what}: their families wait for one another")

    def devices(self) -> list[DeviceInfo]:
        """The devices of the class."""
        return [one.device for one in self._able.values() if one.device is not None]

    def device_count(self) -> int:
        """The number of devices that measure at the same time: workers that share one wait for one another."""
        return len({(one.host, one.device.device) for one in self._able.values() if one.device is not None})

    def most_lanes(self) -> int:
        """Work-items that fill any of the devices."""
        return max(one.lanes for one in self._able.values())

    def note_hosts(self, writer: RunWriter) -> None:
        """Put the facts of the hosts into the manifest."""
        hosts = {host: dict(one.facts) for host, one in self._hosts.items()}
        writer.note(hosts={**writer.manifest.get("hosts", {}), **hosts})

    def add(self, address: str) -> None:
        """A worker has come, and announced itself."""
        if address in self._told:
            return
        self._told.add(address)
        for one in self._scheduler.announcements(self._order, [address]).values():
            if one.offers != self.device_class:
                why = one.different or one.unfit or f"has no {self.device_class}"
                self._progress.say(f"a new worker on {one.host} is left out: {why}")
            else:
                self._progress.say(f"a new worker on {one.host} takes part")
                self._able[address] = one
                self._hosts[one.host] = one

    def note_gone(self) -> None:
        """Say which workers are gone."""
        here = self._scheduler.workers()
        for address in [address for address in self._able if address not in here]:
            host = self._able.pop(address).host
            self._progress.say(f"a worker on {host} is gone: another one takes its family")

    def look(self) -> bool:
        """Look for workers that are gone, once a second; whether all of before are gone, and others have come.

        Raises:
            NoDevice: there has been none for too long.
        """
        now_s = self._clock()
        if now_s - self._looked_s < LOOK_AGAIN_S:
            return False
        self._looked_s = now_s
        self.note_gone()
        before, self._before = self._before, set(self._able)
        if self._able:
            self._seen_s = now_s
        elif now_s - self._seen_s > WAIT_S:
            raise NoDevice(
                f"no worker with a {self.device_class} is left at {self._scheduler.address}: start one, then resume"
            )
        return bool(self._able) and not before & self._before


def _check_names(told: Iterable[Announcement]) -> None:
    """Raise where two machines have one name, which would be one key."""
    machines: dict[str, str] = {}
    for one in told:
        if machines.setdefault(one.host, one.machine) != one.machine:
            raise XebenchError(f"two machines are both named {one.host}: give each a name of its own")


def _asks_auto(order: Order) -> bool:
    """True if the user left the class of the devices open."""
    return order.recipe.device == "auto" and not order.recipe.require_gpu


#: Columns of numbers that are unique in a run.
_NUMBERS: Final = ("sample_id", "first_sample", "last_sample", "end_sample")


class Folder:
    """The run folder of a run over several hosts.

    Args:
        writer: writer of the folder.
        device_class: class of the run's devices.
        seed, precision: settings of the run, recorded in its cases.
        earlier: rows of the folder from an earlier session.
    """

    def __init__(
        self, writer: RunWriter, device_class: str, *, seed: int, precision: float, earlier: Run | None
    ) -> None:
        self._writer = writer
        self._class = device_class
        self._seed, self._precision = seed, precision
        self._next_sample = self._first_sample = writer.next_numbers()[0] if earlier is not None else 0
        self._without_results: set[str] = set()
        self._earlier_ids: dict[str, list[str]] = {}
        for row in rows(earlier.cases) if earlier is not None else ():
            self._earlier_ids.setdefault(problem_id(row), []).append(row["case_id"])
        self._places = calibrated(earlier)

    def announce(self, families: Sequence[Family]) -> None:
        """Write the cases of families that have no results; those of others stand until there are better ones."""
        for family in families:
            self._without_results.add(family.family_id(self._class))
            self._write(family, CaseResult())

    def give_up(self, family: Family, status: Status, reason: str) -> None:
        """Write why a family has no result, where it had none before."""
        if family.family_id(self._class) in self._without_results:
            self._write(family, CaseResult(status, reason))

    def _write(self, family: Family, result: CaseResult) -> None:
        """Write the cases of a family that no device has measured."""
        nowhere = {"device": "", "device_class": self._class}
        fixed = fixed_columns(family, nowhere, self._seed, self._precision).values()
        self._writer.append("cases", [{**row, **result.columns()} for row in fixed])

    def take(self, family: Family, result: FamilyResult) -> None:
        """Write what a worker measured of a family: what an earlier session has of it does not count any more, unless
        this lacks results.
        """
        if result.lacks and family.family_id(self._class) not in self._without_results:
            return
        old = [one for key in resume.case_ids([family], self._class) for one in self._earlier_ids.get(key, ())]
        self._writer.append_checks(superseding(old, end_sample=self._first_sample))
        here = device_key(result.device)
        if here not in self._places:
            self._places = self._places | {here}
            self._writer.append("devices", [result.device])
        shift = self._next_sample - result.first_sample
        for table, measured in result.tables:
            self._writer.append(table, [_here(row, here, shift) for row in measured])
        self._next_sample += result.end_sample - result.first_sample


def _here(row: Mapping[str, Any], where: DeviceKey, shift: int) -> dict[str, Any]:
    numbers = {name: row[name] + shift for name in _NUMBERS if name in row}
    keys = {name: measured_at(row[name], where) for name in ("case_id", "family_id") if name in row}
    return {**row, **numbers, **keys}


def calibrated(run: Run | None) -> frozenset[DeviceKey]:
    """The devices in the run's folder."""
    return frozenset() if run is None else frozenset(device_key(row) for row in rows(run.devices))


def missing_families(
    plan: Sequence[Family], earlier: Run | None, device_class: str
) -> tuple[list[Family], list[Family]]:
    """The families with cases that no earlier session measured on any host, and those whose time was too short."""
    if earlier is None:
        return list(plan), []
    known = resume.cases_with_samples(earlier)
    cases = known.assign(case_id=[problem_id(row) for row in rows(known)])
    missing = resume.missing_families(plan, cases, device_class)
    return missing, resume.unfinished_families(plan, cases, device_class)


#: Seconds between two looks whether the scheduler and the workers are there.
LOOK_S: Final = 0.2

#: Seconds that a worker may continue, and its rows may arrive, after the budget of the run is spent.
LATE_S: Final = END_GRACE_S + 1.0

#: Seconds that the rows of a family may take to come.
FETCH_S: Final = 30.0


class Tasks:
    """Families that workers are measuring.

    Args:
        families: families to measure.
        scheduler: scheduler that receives the families.
        order: order of the run.
        workers: workers that measure them.
        folder: folder that receives their rows.
        progress: progress display.
        signals: signals, deferred while rows are written.
        budget: budget of the run.

    Attributes:
        cut_off: True if a family lacks results because another process killed a worker.
        lacking: number of families without results within the budget.
        wide: number of families that need more time.
    """

    def __init__(
        self,
        families: Sequence[Family],
        scheduler: Scheduler,
        order: Order,
        workers: Workers,
        folder: Folder,
        progress: Progress,
        signals: StopSignals,
        budget: RunBudget,
    ) -> None:
        self._families, self._scheduler, self._order, self._workers = families, scheduler, order, workers
        self._folder, self._progress, self._signals = folder, progress, signals
        self._budget = budget
        self._waiting = deque(range(len(families)))
        self._open: dict[int, Any] = {}
        #: where a family is measured now, and which variant is at work
        self._running: dict[int, tuple[str, str]] = {}
        self._begin_s = time.monotonic()
        self.cut_off = False
        self.lacking = self.wide = 0

    def run(self) -> None:
        """Measure all families on the workers, or those that the budget allows.

        Raises:
            XebenchError: the scheduler is lost, no worker is left, or one cannot use its device.
        """
        try:
            self._submit_more()
            self._show()
            self._wait()
            self._give_up()
        finally:
            self._scheduler.cancel([*self._open.values()])

    def _wait(self) -> None:
        """Receive messages of workers until no family is open, or the budget is spent and the workers do not keep to
        it.
        """
        while self._open and self._budget.left_s() > -LATE_S:
            try:
                what, number, host, *rest = self._scheduler.news.get(timeout=LOOK_S)
            except queue.Empty:
                self._scheduler.check()
            else:
                self._hear(what, number, host, rest[0])
            if self._workers.look():
                # Dask assigns tasks when a worker connects, before the worker has announced its device
                for number in [*self._open]:
                    self._submit(number, self._budget.left_s())
            self._submit_more()
        self._workers.note_gone()  # others may have done its work before the next look

    def _submit_more(self) -> None:
        """Submit what waits: with a budget as many families as there are devices, with equal shares of what is left."""
        if self._budget.seconds is None:
            while self._waiting:
                self._submit(self._waiting.popleft(), None)
            return
        devices = self._workers.device_count()
        while self._waiting and len(self._open) < devices and (left_s := self._budget.left_s()) > 0:
            rounds = math.ceil(len(self._waiting) / devices)
            self._submit(self._waiting.popleft(), left_s / rounds)

    def _submit(self, number: int, share_s: float | None) -> None:
        family = self._families[number]
        pattern = msgspec.structs.replace(family.pattern, source=portable_source(family.pattern.source))
        asked = FamilyOrder(number, replace(family, pattern=pattern), share_s, self._budget.left_s())
        self._open[number] = self._scheduler.submit(self._order, asked, self._workers.device_class)

    def _give_up(self) -> None:
        """Write of families that were not measured why."""
        for number in [*self._open, *self._waiting]:
            with self._signals.held():
                self._folder.give_up(self._families[number], Status.INTERRUPTED, f"not measured: {self._budget.spent}")
            self.lacking += 1

    def _hear(self, what: str, number: int, host: str, about: Any) -> None:
        if what == "done":
            if self._open.get(number) is about:
                self._finish(number, about)
        elif what == "worker":
            self._workers.add(host)
        elif what == "say":
            self._progress.say(f"{host}: {about}")
        elif number in self._open:
            self._running[number] = (host, about if what == "variant" else "")
            self._show()

    def _finish(self, number: int, future: Any) -> None:
        """Write what a worker measured of a family, or why none has."""
        family, host = self._families[number], self._running.get(number, ("", ""))[0]
        if future.cancelled():
            raise SchedulerLost(self._scheduler.address)
        error = future.exception()
        if error is None:
            try:
                result: FamilyResult = future.result(timeout=FETCH_S)
            except TimeoutError:  # its worker has died with it, and another measures it now
                self._scheduler.tell_when_done(number, future)
                return
            with self._signals.held():
                self._folder.take(family, result)
            self.cut_off = self.cut_off or result.cut_off
            self.lacking += result.lacks
            self.wide += result.wide
            self._end(number)
            self._progress.finished(f"{family.title()} on {result.device['host']}", result.results)
        elif type(error).__name__ == "KilledWorker":
            reason = "every worker that received it died"
            with self._signals.held():
                self._folder.give_up(family, Status.CRASHED, reason)
            self._end(number)
            self._progress.say(f"{family.title()}: {reason}")
        else:
            what = first_line(error) if isinstance(error, XebenchError) else describe_error(error)
            raise XebenchError(f"{host}: {family.title()}: {what}" if host else f"{family.title()}: {what}")

    def _end(self, number: int) -> None:
        self._show()
        del self._open[number]
        self._running.pop(number, None)

    def _show(self) -> None:
        """Show the progress of the run, and which families run where."""
        total = len(self._families)
        left = len(self._open) + len(self._waiting)
        done = total - left
        left_s = (time.monotonic() - self._begin_s) / done * left if done else None
        words = [
            " ".join(filter(None, [self._families[number].title(), variant, "on", host]))
            for number, (host, variant) in self._running.items()
        ]
        self._progress.family(done, total, ", ".join(words) or "waiting for a device", left_s)
