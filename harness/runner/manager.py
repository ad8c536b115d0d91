"""Serve families to worker processes, and turn whatever happens to a worker into rows.

A worker serves many families. When it crashes or hangs, the variant that was at work is marked, a new worker takes
the family on without it, and nothing that was measured is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from harness.analysis import timestamps
from harness.children.worker import WorkerProcess
from harness.errors import BrokenEnvironment
from harness.patterns.plan import Family
from harness.records.unchecked import Stretch
from harness.runner import messages
from harness.runner.case_rows import ENDED_BEFORE, NOT_MEASURED, case_rows
from harness.runner.device_worker import START_TIMEOUT_S, DeviceWorker, Lost, start_worker
from harness.runner.family_progress import Attempt, Rows, Visit
from harness.runner.messages import Answer, MeasureFamily
from harness.runner.stop_signals import Stopped
from harness.sampling.limits import Clock, Sampling
from harness.vocabulary import Flag, Status

# A worker may be silent for this long when the run's budget is spent: it compiles, or computes a reference.
GRACE_S = 10.0


class Sink(Protocol):
    """Where rows go: a :class:`harness.records.RunWriter`."""

    def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows of a table."""


class _BudgetSpent(Exception):
    """The run's budget ended before a family was measured; the message is the reason of its cases."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"not measured: the budget for the run is spent{detail}")


class Manager:
    """Runs families one after another on one device.

    Args:
        device: the row of the device, for the static columns of the cases.
        sink: where rows go.
        sampling: how long to sample.
        timeout_s: silence after which a worker counts as hung.
        seed: of the data and of the block orders.
        first: numbers of the first sample and of every family's first block; a resumed run goes on counting.
        notice: called with the name of the variant at work, for progress.
        sample_flags: what the samples that arrive now are marked with, beside their own flags.
        unchecked: told which samples have no check after them, and before a worker begins that its own have none yet.
        make_worker: starts a worker on a device.
        clock: seconds, for tests.
    """

    def __init__(
        self,
        device: Mapping[str, Any],
        sink: Sink,
        *,
        sampling: Sampling,
        timeout_s: float,
        seed: int,
        first: tuple[int, int] = (0, 0),
        notice: Callable[[str], None] = lambda text: None,
        sample_flags: Callable[[], Sequence[Flag]] = tuple,
        unchecked: Callable[[Sequence[Stretch]], None] = lambda stretches: None,
        make_worker: Callable[[str], WorkerProcess[Answer]] = start_worker,
        clock: Clock = time.monotonic,
    ) -> None:
        self._device = device
        self._sink = sink
        self._sampling = sampling
        self._timeout_s = timeout_s
        self._seed = seed
        self._next_sample, self._first_block = first
        self._visits: dict[str, Visit] = {}
        self._notice = notice
        self._sample_flags = sample_flags
        self._tell_unchecked = unchecked
        self._unchecked: list[Stretch] = []
        self._told_unchecked: list[Stretch] = []
        self._clock = clock
        self._worker = DeviceWorker(lambda: make_worker(str(device["device"])))

    def measure_roofs(self) -> Mapping[str, Any]:
        """The device's measured roofs: columns of the table ``devices``.

        Raises:
            BrokenEnvironment: the worker does not survive it.
        """
        roofs: Mapping[str, Any] = {}
        try:
            for answer in self._worker.answers(messages.MeasureRoofs(), silence_s=lambda: START_TIMEOUT_S):
                if isinstance(answer, messages.Roofs):
                    roofs = answer.row
        except Lost as lost:
            raise BrokenEnvironment(f"measuring the device's roofs failed: {lost.how}; try 'xebench doctor'") from None
        return roofs

    def announce(self, families: Iterable[Family], reason: str = ENDED_BEFORE) -> None:
        """Write the cases of families that are not measured yet, or that will not be, with the reason."""
        rows = [
            row
            for family in families
            for row in case_rows(family, self._device, self._seed, reason, self._sampling.precision).values()
        ]
        self._sink.append("cases", rows)

    def run_family(self, family: Family, budget_s: float = float("inf"), number: int = 0) -> dict[str, str]:
        """Measure one family; gives the status of each variant, `NOT_MEASURED` when the run's budget ended before.

        Args:
            family: what to measure.
            budget_s: seconds that the run has left; sampling takes no longer, and a worker that hangs hardly.
            number: of the pass, from 0; in a later one the variants that are ok so far are measured further, unless
                all samples are taken.

        Raises:
            Stopped: a signal came; everything that the worker had sent is written.
        """
        end_s = self._clock() + budget_s
        visit = self._visit(family, number)
        try:
            self._measure(family, visit, number, end_s)
        except _BudgetSpent as end:
            if number == 0:  # else what is on disk counts
                self._settle(visit.rows, _waiting(visit), NOT_MEASURED, str(end))
        return {name: str(row["status"]) for name, row in visit.rows.items()}

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

    def _visit(self, family: Family, number: int) -> Visit:
        """What is known of a family, new in the first pass; the cases to measure have no result yet."""
        key = self._key(family)
        if number and key in self._visits:
            visit = self._visits[key]
            for row in visit.rows.values() if self._blocks_left(visit) >= len(self._sampling.states) else ():
                if row["status"] == Status.OK:
                    row["status"] = NOT_MEASURED  # not written: what is on disk counts until there is more
            return visit
        rows = case_rows(family, self._device, self._seed, precision=self._sampling.precision)
        self._sink.append("cases", list(rows.values()))
        self._visits[key] = visit = Visit(rows, self._first_block)
        return visit

    def restore(self, family: Family, visit: Visit) -> None:
        """Take over what an earlier session has of a family: one pass, the last, is left for it."""
        visit.next_block = self._first_block
        visit.compiled = set(visit.rows)
        visit.spent_s = self._sampling.budget_s * (1 - 1 / self._sampling.passes)
        self._visits[self._key(family)] = visit

    def _key(self, family: Family) -> str:
        return family.case_id("", str(self._device["device_class"]))

    def _measure(self, family: Family, visit: Visit, number: int, end_s: float) -> None:
        """Let workers measure what waits, without the variants that each of them is lost with.

        Raises:
            _BudgetSpent: the run's time was over before.
        """
        while waiting := _waiting(visit):
            lost = self._attempt(family, waiting, visit, number, end_s)
            if lost is None:
                break
            # a worker that falls after it has told of a case takes nothing from that case
            gone = [name for name in _waiting(visit) if lost.variant in (None, name)]
            self._settle(visit.rows, gone, lost.status, str(lost))
            if lost.status == NOT_MEASURED:
                visit.interrupted.update(gone)
            if _waiting(visit) and self._clock() >= end_s:
                raise _BudgetSpent

    # ---- limits -------------------------------------------------------------------------------------------------

    def _part(self, visit: Visit, number: int, end_s: float) -> Sampling:
        """The limits of an attempt in one pass, from what the attempts before it have left."""
        left_s = (self._sampling.budget_s - visit.spent_s) / (self._sampling.passes - number)
        blocks = max(len(self._sampling.states), self._sampling.max_blocks // self._sampling.passes)
        return replace(
            self._sampling,
            budget_s=max(0.0, min(left_s, end_s - self._clock())),
            max_blocks=min(blocks, self._blocks_left(visit)),
        )

    def _blocks_left(self, visit: Visit) -> int:
        return self._sampling.max_blocks - visit.blocks

    def _is_last(self, visit: Visit, number: int, part: Sampling) -> bool:
        """Whether no pass comes after this one, be it because this one may take all samples that are left."""
        states = len(part.states)
        rest = self._blocks_left(visit) - part.max_blocks // states * states
        return number + 1 >= part.passes or rest < states

    def _silence_s(self, end_s: float) -> float:
        """How long a worker may say nothing: a hang must not outlast the run's budget by the whole timeout."""
        left_s = max(0.0, end_s - self._clock()) + GRACE_S
        return min(self._timeout_s, round(left_s, 1)) if left_s < self._timeout_s else self._timeout_s

    # ---- one attempt --------------------------------------------------------------------------------------------

    def _attempt(self, family: Family, variants: Sequence[str], visit: Visit, number: int, end_s: float) -> Lost | None:
        """Let a worker measure ``variants``; how it was lost, None when it finished.

        Raises:
            _BudgetSpent: it was silent when the run's time was over.
        """
        self._worker.ready()  # what that takes is no part of the budget for sampling
        part = self._part(visit, number, end_s)
        attempt = Attempt({name: visit.rows[name]["case_id"] for name in variants}, self._next_sample)
        self._tell(attempt.unchecked())
        request = MeasureFamily(
            source=family.pattern.source,
            pattern=family.pattern.name,
            sizes=family.sizes,
            axes=family.axes,
            variants=variants,
            case_ids=dict(attempt.case_ids),
            sampling=part,
            seed=self._seed,
            first_sample=self._next_sample,
            first_block=visit.next_block,
            first_instance=visit.next_instance,
            compiled=[name for name in variants if name in visit.compiled],
            last=self._is_last(visit, number, part),
            earlier={state: list(instances) for state, instances in visit.earlier.items()},
        )
        try:
            lost = self._follow(request, visit, attempt, end_s)
        except (Stopped, _BudgetSpent):
            self._conclude(attempt, visit)
            raise
        self._conclude(attempt, visit, whole=lost is None)
        return lost

    def _follow(self, request: MeasureFamily, visit: Visit, attempt: Attempt, end_s: float) -> Lost | None:
        """Take what a worker sends until it has finished, or is lost: see `_attempt`."""
        try:
            for answer in self._worker.answers(request, request.variants, silence_s=lambda: self._silence_s(end_s)):
                self._take(answer, visit, attempt)
            return None
        except Lost as lost:
            if lost.silent_s is not None and lost.silent_s < self._timeout_s:
                # it was not given the time after which it counts as hung, so that nobody knows whether it is
                at_work = f"{lost.variant or 'the worker'} in {lost.stage}: {lost.how}"
                raise _BudgetSpent(f" ({at_work})") from None
            return lost
        except Stopped:
            for answer in self._worker.rest():
                self._take(answer, visit, attempt)
            raise

    def _conclude(self, attempt: Attempt, visit: Visit, *, whole: bool = False) -> None:
        """Count what an attempt took; of one that was cut off the time, and samples of variants that were checked."""
        visit.spent_s += attempt.spent_s()
        if whole:
            visit.blocks += len(attempt.blocks)
            for state, instances in attempt.instances.items():
                visit.earlier.setdefault(state, []).extend(instances)
        if attempt.case_ids and self._next_sample > attempt.first_sample:
            self._unchecked.append(attempt.unchecked(self._next_sample))
        self._tell()

    def _tell(self, *going_on: Stretch) -> None:
        told = [*self._unchecked, *going_on]
        if told != self._told_unchecked:
            self._told_unchecked = told
            self._tell_unchecked(told)

    def _take(self, answer: Answer, visit: Visit, attempt: Attempt) -> None:
        if isinstance(answer, messages.TableRows):
            if answer.table == "samples":
                self._count(answer.rows, visit, attempt)
            self._sink.append(answer.table, answer.rows)
        elif isinstance(answer, messages.CaseOver):
            self._tell()  # the first of them comes when all are checked
            row = visit.rows[answer.variant]
            row.update(answer.row())
            self._sink.append("cases", [row])
            attempt.case_ids.pop(answer.variant)
        elif isinstance(answer, messages.StateSampled):
            attempt.instances[answer.state] = list(answer.instances)
            attempt.told_s += answer.seconds
        elif isinstance(answer, messages.VariantChecked):
            self._notice(answer.variant)

    def _count(self, samples: Sequence[dict[str, Any]], visit: Visit, attempt: Attempt) -> None:
        """Note which numbers are taken: a later worker's must not repeat them."""
        flags, names = self._sample_flags(), {row["case_id"]: name for name, row in visit.rows.items()}
        for sample in samples:
            self._next_sample = max(self._next_sample, sample["sample"] + 1)
            visit.next_block = max(visit.next_block, sample["block"] + 1)
            if sample["instance"] is None:
                visit.compiled.add(names[sample["case_id"]])
            else:
                visit.next_instance = max(visit.next_instance, sample["instance"] + 1)
                attempt.see(sample, self._clock())
            sample["flags"] = timestamps.with_flags(sample["flags"], *flags)

    def _settle(self, rows: Rows, variants: Sequence[str], status: str, reason: str) -> None:
        for name in variants:
            rows[name].update(status=status, reason=reason, stopped_by="")
        self._sink.append("cases", [rows[name] for name in variants])


def _waiting(visit: Visit) -> list[str]:
    """The variants that have no result of this pass, and may get one."""
    return [name for name, row in visit.rows.items() if row["status"] == NOT_MEASURED and name not in visit.interrupted]
