"""A run over the workers of a Dask scheduler: families are its tasks, and their rows come to one run folder here.

Dask decides which worker measures what, sends what a dead worker had to another, and shows it all in its dashboard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import uuid4

import msgspec

from xebench.patterns.plan import Family, without_repeats
from xebench.patterns.problem import Room
from xebench.results import Run, RunWriter
from xebench.results.provenance import manifest
from xebench.runner import resume
from xebench.runner.cluster.order import Order, Software, user_files
from xebench.runner.cluster.scheduler import Scheduler
from xebench.runner.cluster.tasks import Folder, Tasks, Workers, calibrated, missing_families
from xebench.runner.resource_limits import (
    RunBudget,
    Stopped,
    StoppedEarly,
    StopSignals,
    host_memory_bytes,
    parse_memory,
)
from xebench.runner.run import WORKER_KILLED, EndTrials, RunEnd, find_earlier, open_folder
from xebench.runner.run_options import Options, Progress
from xebench.system import runtime


def run_plan_on(address: str, plan: Sequence[Family], options: Options, progress: Progress) -> Run:
    """Measure a plan over the workers of a scheduler, or what an earlier run in the folder lacks of it.

    Raises:
        XebenchError: the extra is not installed, there is no scheduler, it has no worker that can measure, a worker
            has other software, the scheduler is lost, or an option contradicts another.
        RunFolderError: the folder cannot be written, or there is nothing to resume in it.
    """
    budget = options.budget()
    environment = runtime.relevant_environment()
    with StopSignals() as signals:
        try:
            _check(options)
            earlier = find_earlier(options, progress, plan, over_scheduler=True)
            if earlier is not None and resume.is_done(earlier, plan):
                return earlier
            progress.stage(f"connecting to {address}")
            with Scheduler(address) as scheduler:
                order = _order(options, earlier)
                progress.stage("self-test of the workers' devices")
                with scheduler.running(order):
                    workers = Workers(scheduler, order, progress)
                    problem = _problem(workers, earlier)
                    plan = without_repeats(family.on(*problem) for family in plan)
                    facts = manifest(options.command_line, asdict(runtime.describe_machine()), environment)
                    facts[resume.OVER_SCHEDULER] = _kept(problem)
                    with open_folder(options, earlier, facts) as writer:
                        measuring = _Measuring(
                            plan, options, progress, signals, budget, scheduler, order, workers, earlier
                        )
                        end = RunEnd(writer, progress, signals, f" --on {address}")
                        return end.after(lambda: measuring.measure(writer, end))
        except Stopped as stop:
            raise StoppedEarly(stop.name) from None


def _check(options: Options) -> None:
    parse_memory(options.memory_limit, host_memory_bytes())
    options.sampling()


def _order(options: Options, earlier: Run | None) -> Order:
    recipe = options.recipe
    if earlier is not None and recipe.device == "auto":
        recipe = msgspec.structs.replace(recipe, device=earlier.manifest[resume.OVER_SCHEDULER]["device_class"])
    return Order(
        name=f"xebench-{uuid4().hex[:8]}",
        software=Software.here(user_files(options.recipe.paths)),
        recipe=recipe,
        run=str(options.output.resolve()),
        timeout_s=options.timeout_s,
        memory_limit=options.memory_limit,
        exclusive=options.exclusive,
        run_budget_s=options.run_budget_s,
        first_block=0 if earlier is None else _first_block(earlier),
        calibrated=calibrated(earlier),
    )


def _first_block(earlier: Run) -> int:
    blocks = earlier.samples["block"]
    return int(blocks.max()) + 1 if blocks.notna().any() else 0


#: Class, sub-group sizes and room of the problems of a run: the same on all hosts.
_Problem = tuple[str, tuple[int, ...], Room]


def _problem(workers: Workers, earlier: Run | None) -> _Problem:
    """Sizes large enough for each of the devices, and sub-groups that all of them have."""
    devices = workers.devices()
    if earlier is not None:
        kept = earlier.manifest[resume.OVER_SCHEDULER]
        return kept["device_class"], tuple(kept["sub_group_sizes"]), Room(kept["lanes"], kept["cache_bytes"])
    common = set.intersection(*(set(device.sub_group_sizes) for device in devices))
    room = Room(workers.most_lanes(), max(device.global_cache_bytes for device in devices))
    return workers.device_class, tuple(sorted(common)), room


def _kept(problem: _Problem) -> dict[str, Any]:
    device_class, sub_group_sizes, room = problem
    return {"device_class": device_class, "sub_group_sizes": list(sub_group_sizes), **asdict(room)}


class _Measuring:
    """The part of the run that one session measures."""

    def __init__(
        self,
        plan: Sequence[Family],
        options: Options,
        progress: Progress,
        signals: StopSignals,
        budget: RunBudget,
        scheduler: Scheduler,
        order: Order,
        workers: Workers,
        earlier: Run | None,
    ) -> None:
        self._plan, self._options, self._progress, self._signals = plan, options, progress, signals
        self._budget = budget
        self._scheduler, self._order, self._workers, self._earlier = scheduler, order, workers, earlier

    def measure(self, writer: RunWriter, end: RunEnd) -> str | None:
        """Measure; why that ended before the plan did, None when it did not."""
        missing, wide = missing_families(self._plan, self._earlier, self._workers.device_class)
        if self._earlier is not None:
            again = f", {len(wide)} had too little time and begin again" if wide else ""
            self._progress.say(f"{len(missing)} of {len(self._plan)} families are missing{again}")
        folder = Folder(
            writer,
            self._workers.device_class,
            seed=self._options.recipe.seed,
            precision=self._options.sampling().precision,
            earlier=self._earlier,
        )
        with self._signals.held():
            self._workers.note_hosts(writer)
            folder.announce(missing)
        self._budget.reserve_s = EndTrials(writer).seconds
        tasks = Tasks(
            [*missing, *wide],
            self._scheduler,
            self._order,
            self._workers,
            folder,
            self._progress,
            self._signals,
            self._budget,
        )
        tasks.run()
        self._workers.note_hosts(writer)
        if tasks.cut_off:
            end.say_what_is_kept("a worker was killed from outside")
            return WORKER_KILLED
        return end.say_what_lacks(self._budget, tasks.lacking, tasks.wide)
