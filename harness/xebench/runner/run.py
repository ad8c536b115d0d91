"""One run: from a plan and a device to a finished run folder, or on from an unfinished one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

import msgspec

from xebench.errors import NoDevice
from xebench.measuring.device_worker import start_worker
from xebench.measuring.doctor.self_test import selftest
from xebench.measuring.roofline.results import with_kept_roofs
from xebench.measuring.sampling.limits import Sampling
from xebench.patterns.fit import Room
from xebench.patterns.plan import Family
from xebench.runner import resume
from xebench.runner.device_lock import DeviceLock, OtherRun, SharingWatch, device_lock
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.manager import Manager
from xebench.runner.resource_limits import RunBudget, host_memory_bytes, parse_memory
from xebench.runner.run_end import EndTrials, RunEnd
from xebench.runner.run_options import Options, Progress
from xebench.runner.stop_signals import Stopped, StoppedEarly, StopSignals, exit_code
from xebench.runner.visiting import Visiting
from xebench.system import runtime
from xebench.tables import Run, RunWriter, schema
from xebench.tables.checks import superseding
from xebench.tables.provenance import manifest
from xebench.vocabulary import NEVER_RUN, Flag, Roof

#: Why a run ended, in the manifest's ``ended_by``, which may also name an error: somebody killed a worker, and what it
#: was at is to be measured again.
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
    budget = options.budget()
    environment = runtime.relevant_environment()  # the user's own: loading the runtime sets some for this process
    with StopSignals() as signals:
        try:
            memory_bytes = parse_memory(options.memory_limit, host_memory_bytes())
            sampling = options.sampling()
            earlier = resume.earlier_session(options, progress, over_scheduler=False)
            if earlier is not None and earlier.complete:
                return earlier
            progress.stage("loading the SYCL runtime")
            device = _choose_device(options, earlier, progress)
            plan = [family.on(device.device_class, device.sub_group_sizes, _room(device)) for family in plan]
            lock = device_lock(
                device.to_row(),
                options.output,
                exclusive=options.exclusive,
                unseen=lambda why: progress.say(f"another run on this device would not be noticed: {why}"),
            )
            with lock as held:
                progress.stage("self-test")
                _require_right_results(device)
                with _open(options, earlier, progress, environment) as writer:
                    return _PartOfRun(
                        plan, options, sampling, progress, signals, budget, memory_bytes, device, earlier, held, writer
                    ).run()
        except Stopped as stop:
            raise StoppedEarly(stop.name) from None


def _choose_device(options: Options, earlier: Run | None, progress: Progress) -> runtime.DeviceInfo:
    """The device that the user chose; a resumed run keeps its device."""
    runtime.load()
    recorded = resume.recorded_device(earlier)
    request = options.recipe.device if recorded is None else str(recorded["device"])
    selection = runtime.select_device(request, require_gpu=options.recipe.require_gpu)
    if selection.notice:
        progress.say(selection.notice)
    device = selection.device
    progress.say(f"device: {device.name} ({device.device}, driver {device.driver_version})")
    if recorded is not None:
        resume.check_same_device(recorded, device.to_row())
    return device


def _room(device: runtime.DeviceInfo) -> Room:
    import dpctl  # can be imported once the runtime is loaded

    from xebench.measuring.session.lanes import device_lanes

    return Room(device_lanes(dpctl.SyclDevice(device.device)), device.global_cache_bytes)


def _require_right_results(device: runtime.DeviceInfo) -> None:
    """A device that computes wrong is caught at the door, before there is a folder to put results in."""
    result = selftest(device.device)
    if not result.ok:
        more = f" and {len(result.failures) - 1} more" if len(result.failures) > 1 else ""
        raise NoDevice(
            f"{device.device} failed its self-test ({result.failures[0]}{more}): update its driver; see xebench doctor"
        )


def _open(options: Options, earlier: Run | None, progress: Progress, environment: Mapping[str, str]) -> RunWriter:
    facts = manifest(options.command_line, asdict(runtime.describe_machine()), environment)
    facts["drivers"] = {device.device: device.driver_version for device in runtime.list_devices()}
    if earlier is not None and (changed := resume.changed_software(earlier.manifest, facts)):
        progress.say(f"the run was begun with other software ({', '.join(changed)}): families differ in it")
    return resume.open_folder(options, earlier, facts)


@dataclass
class _PartOfRun:
    """The part of a run that one process does: all of it, or from where an earlier process was cut off."""

    plan: Sequence[Family]
    options: Options
    sampling: Sampling
    progress: Progress
    signals: StopSignals
    budget: RunBudget
    memory_bytes: int
    device: runtime.DeviceInfo
    earlier: Run | None
    lock: DeviceLock | None
    writer: RunWriter

    def __post_init__(self) -> None:
        self._end = RunEnd(self.writer, self.progress, self.signals)

    def run(self) -> Run:
        """Measure, and leave a finished folder however that ends."""
        return self._end.after(self._measure)

    def _measure(self) -> str | None:
        """Why it ended before the plan did; None when it did not."""
        missing, first = list(self.plan), (0, 0)
        unfinished: list[FamilyProgress] = []
        if self.earlier is not None:
            cases, device_class = self.earlier.cases, self.device.device_class
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
            if not missing and not unfinished:
                return None
            with self.signals.held():
                self.writer.append_checks(superseding(resume.case_ids(missing, device_class), end_sample=first[0]))
        # its roofs are measured once in a run
        row = resume.recorded_device(self.earlier) or {
            **dict.fromkeys(schema.columns("devices")),
            **self.device.to_row(),
            "selftest": "ok",
        }
        manager = self._manager(row, first)
        try:
            if all(row[roof.column] is None for roof in Roof):
                self.progress.stage("roofs")
                kept = self.options.kept_roofs(self.device)
                brief = kept is not None or self.options.recipe.preset == "smoke"
                row.update(with_kept_roofs(manager.measure_roofs(brief=brief), kept))
                self.writer.append("devices", [row])
            manager.announce(missing)
            for progress in unfinished:
                manager.restore(progress)
            return self._visit(manager, [*missing, *(progress.family for progress in unfinished)])
        finally:
            manager.close()

    def _manager(self, row: Mapping[str, Any], first: tuple[int, int]) -> Manager:
        watch = SharingWatch(self.lock, self._tell_of_other_run)

        def poll() -> None:
            self.signals.check()
            self.writer.check_in_place()
            watch.shared()

        return Manager(
            row,
            self.writer,
            sampling=self.sampling,
            timeout_s=self.options.silence_s(),
            seed=self.options.recipe.seed,
            first=first,
            notice=self.progress.variant,
            say=self.progress.say,
            sample_flags=lambda: (Flag.SHARED,) if watch.shared() else (),
            make_worker=partial(start_worker, memory_limit_bytes=self.memory_bytes, poll=poll),
        )

    def _visit(self, manager: Manager, families: Sequence[Family]) -> str | None:
        """Visit the families; why that ended before everything was done, None when it did not."""
        visits = self.options.visits()
        # a worker has one environment, and is kept: the first round starts one after the other
        families = sorted(families, key=lambda family: sorted(family.pattern.environment.items()))
        self.budget.reserve_s = EndTrials(self.writer).seconds
        unvisited = Visiting(families, manager, visits, self.budget, self.progress, held=self.signals.held).run()
        if unvisited.never:
            manager.announce(unvisited.never, f"not measured: {self.budget.spent}")
        if unvisited.cut_off and manager.worker_was_killed:
            self._end.say_what_is_kept("a worker was killed from outside")
            return WORKER_KILLED
        return self._end.say_what_lacks(self.budget, len(unvisited.never) + unvisited.cut_off, unvisited.wide)

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
