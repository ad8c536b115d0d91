"""One run: from a plan and a device to a finished run folder, or on from an unfinished one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any, Final

import msgspec

from xebench.doctor.examination import cure_of
from xebench.errors import NoDevice, RunFolderError, XebenchError, describe_error
from xebench.measuring.device_worker import DeviceWorker, start_worker
from xebench.measuring.sampling import Clock, Sampling
from xebench.patterns.plan import Family, without_repeats
from xebench.patterns.problem import Room
from xebench.records.points import rows
from xebench.results import Run, RunWriter, load_run, schema
from xebench.results.analysis.compilers import short_name
from xebench.results.analysis.summaries import superseding
from xebench.results.provenance import manifest
from xebench.roofs.measure import MEASURED
from xebench.runner import resume
from xebench.runner.calibration import ROOFS_S, kept_roofs, lacks_roofs, measured_roofs
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.manager import Manager
from xebench.runner.resource_limits import (
    DeviceLock,
    OtherRun,
    RunBudget,
    SharingWatch,
    Stopped,
    StoppedEarly,
    StopSignals,
    device_lock,
    exit_code,
    host_memory_bytes,
    parse_memory,
)
from xebench.runner.rounds import Rounds
from xebench.runner.run_options import Options, Progress
from xebench.system import runtime
from xebench.system.runtime.kernel_compiler import compiler_name, variables_for
from xebench.vocabulary import NEVER_RUN, RUN_BUDGET, Flag

#: Growth of the journal since the last trial after which finishing is tried again.
GROWTH: Final = 2.0

#: Allowance for steps outside of the trial: printing the report, a share of the tables' time, and ending the worker.
REPORT_PART: Final = 0.5

LAST_S: Final = 2.0

#: Largest part of the run's budget that is kept for measuring roofs.
ROOFS_PART: Final = 0.1


@dataclass
class EndTrials:
    """Estimates the time needed to finish a run, by trial runs of that step.

    The time is assumed to be proportional to the number of rows until the next trial. All trials together take about as
    long as the final step.

    Attributes:
        writer: writer of the run's folder.
        clock: seconds, for tests.
    """

    writer: RunWriter
    clock: Clock = time.monotonic
    _took_s: float = 0.0
    _tried_bytes: int = 0

    def seconds(self) -> float:
        """Seconds that the end would take now.

        Raises:
            RunFolderError: the disk is full or unwritable.
        """
        if (size := self.writer.journal_bytes) >= GROWTH * self._tried_bytes:
            begin_s = self.clock()
            self.writer.write_tables()
            self._took_s, self._tried_bytes = self.clock() - begin_s, size
        tables_s = self._took_s * size / max(1, self._tried_bytes)
        return (1 + REPORT_PART) * tables_s + LAST_S


@dataclass(frozen=True)
class RunEnd:
    """Leaves a finished folder.

    Attributes:
        writer: writer of the folder.
        progress: progress display.
        signals: signals that end the run; ignored while the folder is finished.
        how: further options needed besides ``--resume`` to continue.
    """

    writer: RunWriter
    progress: Progress
    signals: StopSignals
    how: str = ""

    def after(self, measure: Callable[[], str | None]) -> Run:
        """Measure, and finish the folder however that ends.

        Args:
            measure: gives why it ended before everything was measured; None when it did not.
        """
        try:
            ended_by = measure()
            self.signals.ignore()
        except Stopped as stop:
            ended_by = stop.name
            self.say_what_is_kept(f"stopped by {stop.name}")
        except BaseException as error:
            self.signals.ignore()
            with suppress(XebenchError):  # the first error says more
                self.writer.require_in_place()
                self.say_what_is_kept("the run failed")
                self._finish(describe_error(error))
            raise
        return self._finish(ended_by)

    def say_what_is_kept(self, cause: str) -> None:
        """Print why the run ends early, and how it goes on."""
        again = f"'xebench run --resume {self.writer.path}{self.how}' continues"
        self.progress.say(f"{cause}: what was measured is kept in {self.writer.path}; {again}")

    def say_what_lacks(self, budget: RunBudget, lacking: int, wide: int) -> str | None:
        """Print what the budget left out, and return the reason why the run ends early, or None.

        Args:
            budget: budget of the run.
            lacking: families without results.
            wide: families that are less precise than requested.
        """
        if not lacking and not wide:
            return None
        if lacking and budget.left_s() > 0:
            self.say_what_is_kept(f"the budget of {budget.seconds:g} s for the run was too small for some families")
        elif lacking:
            self.say_what_is_kept(f"{budget.spent}, and {_families(lacking)} not measured")
        else:
            self.say_what_is_kept(f"{budget.spent}, and {_families(wide)} less precise than wanted")
        return RUN_BUDGET

    def _finish(self, ended_by: str | None) -> Run:
        try:
            self.writer.note(ended_by=ended_by)
            return self.writer.finish("interrupted" if ended_by else "complete")
        except RunFolderError as error:
            # a disk too full for the tables may still hold the manifest
            with suppress(RunFolderError):
                self.writer.note(ended_by=ended_by or describe_error(error), state="interrupted")
            raise


def _families(count: int) -> str:
    return f"{count} {'family is' if count == 1 else 'families are'}"


#: Why a run ended, in the manifest's ``ended_by``, which may also name an error: another process killed a worker,
#: and its current case must be measured again.
WORKER_KILLED: Final = "worker killed"

#: The exit status of a run whose device, or stack, lacks what each of its cases needs.
ALL_SKIPPED: Final = 4


def run_plan(plan: Sequence[Family], options: Options, progress: Progress) -> Run:
    """Measure a plan, or what an earlier run in the folder lacks of it.

    A signal (Ctrl-C, ``kill``) or a spent budget ends it cleanly: everything measured is kept, the folder says
    ``interrupted`` and why, and a later call with ``resume`` goes on. A complete run is given back as it is.

    Raises:
        NoDevice: no device fits, or it computes wrong.
        BrokenEnvironment: the stack cannot be loaded.
        RunFolderError: the folder cannot be written, or there is nothing to resume in it.
        XebenchError: the run to resume was measured on another device, the device is in use (``exclusive``), or an
            option contradicts another.
    """
    budget, load_average = options.budget(), os.getloadavg()[0]
    environment = runtime.relevant_environment()  # the user's own: loading the runtime sets some for this process
    with StopSignals() as signals:
        try:
            memory_bytes = parse_memory(options.memory_limit, host_memory_bytes())
            sampling = options.sampling()
            earlier = find_earlier(options, progress, plan, over_scheduler=False)
            if earlier is not None and resume.is_done(earlier, plan):
                return earlier
            progress.stage("loading the SYCL runtime")
            compiler = variables_for(options.recipe.compiler)
            device = _choose_device(options, earlier, progress)
            here = device.device_class, device.sub_group_sizes, _room(device)
            plan = without_repeats(family.on(*here) for family in plan)
            lock = device_lock(
                device.to_row(),
                options.output,
                exclusive=options.exclusive,
                unseen=lambda why: progress.say(f"another run on this device would not be noticed: {why}"),
            )
            looks: list[Callable[[], object]] = [signals.raise_caught]
            worker = DeviceWorker(
                lambda environment: start_worker(
                    device.device,
                    {**environment, **compiler},
                    memory_limit_bytes=memory_bytes,
                    poll=lambda: [look() for look in looks],
                )
            )
            with lock as held, closing(worker):
                progress.stage("self-test")
                _require_right_results(device, worker)
                with _open(options, earlier, progress, environment) as writer:
                    return _PartOfRun(
                        plan, options, sampling, progress, signals, budget, worker, looks, device, earlier, held, writer
                    ).run(load_average)
        except Stopped as stop:
            raise StoppedEarly(stop.name) from None


def find_earlier(options: Options, progress: Progress, plan: Sequence[Family], *, over_scheduler: bool) -> Run | None:
    """The earlier session to resume; None for a new run, for which there is room.

    Raises:
        RunFolderError: the folder cannot be written, or there is nothing to resume in it.
        XebenchError: the earlier session went the other way.
    """
    if options.resume:
        return resume.earlier_session(options, progress, plan, over_scheduler=over_scheduler)
    RunWriter.refuse(options.output, overwrite=options.overwrite)
    return None


def open_folder(options: Options, earlier: Run | None, facts: Mapping[str, Any]) -> RunWriter:
    """The run's folder, new or as the earlier session left it, for this session with these facts."""
    if earlier is None:
        return RunWriter.create(options.output, {**facts, **options.recipe.to_manifest()}, overwrite=options.overwrite)
    return RunWriter.resume(options.output, facts)


def _choose_device(options: Options, earlier: Run | None, progress: Progress) -> runtime.DeviceInfo:
    """The device that the user chose; a resumed run keeps its device."""
    runtime.load()
    recorded = None if earlier is None else resume.recorded_device(earlier)
    request = options.recipe.device if recorded is None else str(recorded["device"])
    selection = runtime.select_device(request, require_gpu=options.recipe.require_gpu)
    if selection.notice:
        progress.say(selection.notice)
    device = selection.device
    compiler = short_name(compiler_name(as_it_is=options.recipe.compiler is not None))
    progress.say(f"device: {device.name} ({device.device}, driver {device.driver_version}), kernels by {compiler}")
    if recorded is not None:
        resume.require_same_device(recorded, device.to_row())
    return device


def _room(device: runtime.DeviceInfo) -> Room:
    import dpctl  # can be imported once the runtime is loaded

    from xebench.session.spread import device_lanes

    return Room(device_lanes(dpctl.SyclDevice(device.device)), device.global_cache_bytes)


def _require_right_results(device: runtime.DeviceInfo, worker: DeviceWorker) -> None:
    """Refuse a device that fails the self-test, before the run folder is made."""
    if failures := worker.self_test():
        more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
        raise NoDevice(
            f"{device.device} failed its self-test ({failures[0]}{more}): {cure_of(failures[0])}; see xebench doctor"
        )


def _open(options: Options, earlier: Run | None, progress: Progress, environment: Mapping[str, str]) -> RunWriter:
    facts = manifest(options.command_line, asdict(runtime.describe_machine()), environment)
    facts["drivers"] = {device.device: device.driver_version for device in runtime.list_devices()}
    if earlier is not None and (changed := resume.changed_software(earlier.manifest, facts)):
        progress.say(f"the run was begun with other software ({', '.join(changed)}): families differ in it")
    return open_folder(options, earlier, facts)


@dataclass
class _PartOfRun:
    """The part of a run that one process does: all of it, or from where an earlier process was cut off.

    Answers come first: the device's roofs are measured after the last family.
    """

    plan: Sequence[Family]
    options: Options
    sampling: Sampling
    progress: Progress
    signals: StopSignals
    budget: RunBudget
    worker: DeviceWorker
    looks: list[Callable[[], object]]
    device: runtime.DeviceInfo
    earlier: Run | None
    lock: DeviceLock | None
    writer: RunWriter

    def __post_init__(self) -> None:
        self._end = RunEnd(self.writer, self.progress, self.signals)

    def run(self, load_average: float) -> Run:
        """Measure, and leave a finished folder however that ends.

        Args:
            load_average: load of the host before the run.
        """
        return self._end.after(partial(self._measure, load_average))

    def _measure(self, load_average: float) -> str | None:
        """Measure the plan; return why the run ended before the plan was done, or None."""
        missing, first = list(self.plan), (0, 0)
        unfinished: list[FamilyProgress] = []
        if self.earlier is not None:
            cases, device_class = resume.cases_with_samples(self.earlier), self.device.device_class
            missing = resume.missing_families(self.plan, cases, device_class)
            if changed := resume.changed_families(self.plan, cases, device_class):
                names = ", ".join(sorted({family.pattern.name for family in changed}))
                self.progress.say(f"measured again, since the pattern file has changed: {names}")
            first = self.writer.next_numbers()
            unfinished = [
                resume.family_progress(family, self.earlier, device_class, self.sampling, next_block=first[1])
                for family in resume.unfinished_families(self.plan, cases, device_class)
            ]
            more = f", {len(unfinished)} {'waits' if len(unfinished) == 1 else 'wait'} for more" if unfinished else ""
            self.progress.say(f"{len(missing)} of {len(self.plan)} families are missing{more}")
            if not missing and not unfinished and not self._lacks_roofs:
                return None
            with self.signals.held():
                self.writer.append_checks(superseding(resume.case_ids(missing, device_class), end_sample=first[0]))
        row = self._recorded or {
            **dict.fromkeys(schema.columns("devices")),
            **self.device.to_row(),
            "selftest": "ok",
        }
        manager = self._manager(row, first)
        try:
            if row["roofs_from"] is None:
                self.progress.stage("the instrument's own error")
                kept = kept_roofs(self.device, self.options.roofs, self.options.recipe.preset)
                row.update({**manager.measure_instrument(), **kept})
                self.writer.append("devices", [row])
            manager.announce(missing)
            for progress in unfinished:
                manager.restore(progress)
            ended_by = self._measure_rounds(manager, [*missing, *(progress.family for progress in unfinished)])
        finally:
            manager.close()
        if self._lacks_roofs and (self._roofs_s or self.budget.left_s() >= ROOFS_S):
            self._tell_times()
            self.progress.say(
                "every family has been measured; the device's roofs follow, which serve later runs as well"
            )
            self.progress.stage("roofs")
            row = {**row, **measured_roofs(self.device, self.options.roofs, load_average)}
            self.writer.append("devices", [row])
        return ended_by

    @cached_property
    def _recorded(self) -> dict[str, Any] | None:
        """The device's row of an earlier session."""
        return None if self.earlier is None else resume.recorded_device(self.earlier)

    @cached_property
    def _lacks_roofs(self) -> bool:
        """True if no earlier session measured the roofs, and none are kept."""
        known = self._recorded is not None and str(self._recorded["roofs_from"]).startswith(MEASURED)
        return not known and lacks_roofs(self.device, self.options.roofs, self.options.recipe.preset)

    @property
    def _roofs_s(self) -> float:
        """Seconds of the run's budget that are kept for roofs: none where they are more than a small part of it."""
        part_s = ROOFS_PART * (self.budget.seconds or 0.0)
        return ROOFS_S if self._lacks_roofs and part_s >= ROOFS_S else 0.0

    def _tell_times(self) -> None:
        """Print the times of variants that are compared with nothing: what is compared has had its lines."""
        if not any(len(family.pattern.variants) == 1 for family in self.plan):
            return
        run = load_run(self.writer.path)
        for row in rows(run.summaries[~run.summaries["family_id"].isin(run.pairs["family_id"])]):
            if row["median_ns"]:
                self.progress.finished(row["pattern"], [(row["variant"], f"{row['median_ns'] / 1e3:.4g} us")])

    def _manager(self, row: Mapping[str, Any], first: tuple[int, int]) -> Manager:
        watch = SharingWatch(self.lock, self._tell_of_other_run)
        self.looks += [self.writer.require_in_place, watch.shared]
        return Manager(
            row,
            self.writer,
            self.worker,
            sampling=self.sampling,
            timeout_s=self.options.silence_s(),
            seed=self.options.recipe.seed,
            first=first,
            notice=self.progress.variant,
            say=self.progress.say,
            sample_flags=lambda: (Flag.SHARED,) if watch.shared() else (),
        )

    def _measure_rounds(self, manager: Manager, families: Sequence[Family]) -> str | None:
        """Measure the families round after round; return why that ended before everything was done, or None."""
        plan = self.options.round_plan()
        # a worker has one environment and is kept, so the first round starts them one after another
        families = sorted(families, key=lambda family: sorted(family.pattern.environment.items()))
        end, before = EndTrials(self.writer), manager.next_sample
        self.budget.reserve_s = lambda: end.seconds() + self._roofs_s
        self.budget.begin_sampling(lambda: manager.next_sample > before)
        unfinished = Rounds(families, manager, plan, self.budget, self.progress, held=self.signals.held).run()
        if unfinished.never:
            manager.announce(unfinished.never, f"not measured: {self.budget.spent}")
        if unfinished.cut_off and manager.worker_was_killed:
            self._end.say_what_is_kept("a worker was killed from outside")
            return WORKER_KILLED
        return self._end.say_what_lacks(self.budget, len(unfinished.never) + unfinished.cut_off, unfinished.wide)

    def _tell_of_other_run(self, run: OtherRun) -> None:
        self.progress.say(
            f"another run uses this device ({run}): each disturbs the other; samples taken "
            f"meanwhile have the flag '{Flag.SHARED}'"
        )
        others = self.writer.manifest.get("concurrent_runs", [])
        self.writer.note(concurrent_runs=[*others, msgspec.structs.asdict(run)])


def exit_status(run: Run) -> int:
    """128 + its number for a run that a signal ended; else 1 when a case failed or a worker was killed, `ALL_SKIPPED`
    when not one case was run, or 0.
    """
    ended_by = str(run.manifest.get("ended_by") or "")
    if run.manifest["state"] == "interrupted" and ended_by.startswith("SIG"):
        return exit_code(ended_by)
    if ended_by == WORKER_KILLED or not run.failed_cases.empty:
        return 1
    return ALL_SKIPPED if run.cases["status"].isin(NEVER_RUN).all() else 0
