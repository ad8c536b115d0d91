"""Serve families to worker processes, and turn every outcome, also a crash or a hang, into rows.

A worker serves many families. When it crashes or hangs, the variant that was at work is marked, a new worker takes
the family on without it, and nothing that was measured is lost. A pattern file of the user's has workers of its own.
The project's files share one for each environment, which is kept; a failure which another file may have caused is tried
again in a new one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from xebench.errors import BrokenEnvironment, XebenchError
from xebench.measuring.case_rows import ENDED_BEFORE, NOT_MEASURED, CaseResult, fixed_columns
from xebench.measuring.device_worker import DeviceWorker, Lost
from xebench.measuring.messages import (
    Finished,
    FinishFamily,
    Instance,
    MeasureInstance,
    Message,
    Stage,
    Step,
    TableRows,
    Upcoming,
    WorkerMessage,
)
from xebench.measuring.sampling import Clock, Sampling
from xebench.measuring.stopping import NEXT_INSTANCE, Instances, end_of_round
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.plan import Family
from xebench.patterns.registry import is_as_declared, is_builtin
from xebench.results.analysis import metrics
from xebench.results.analysis.moderation import FEWEST_PAIRS, NOTHING, Prior, prior_of
from xebench.results.analysis.summaries import CheckRow
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.resource_limits import Stopped
from xebench.runner.round_plan import Round
from xebench.runner.silence import Silence
from xebench.vocabulary import CheckResult, Flag, State, Status

# A worker may be silent for this long beyond its family's share of the run's budget: it compiles, or checks.
GRACE_S = 10.0

# A worker may go on for this long when the run's budget is spent: it checks what it has sampled.
END_GRACE_S = 3.0

#: A family's only round: as long as its own budget allows.
FIRST_ROUND: Final = Round()

_WHOLE_BUDGET: Final = "the budget for the run"

_SHARE_OF_BUDGET: Final = "this family's share of the budget for the run"

# Result of a variant's last check in an instance, by the status that it leaves. Other statuses come from no check.
_CHECK_RESULTS = {Status.OK: CheckResult.PASSED, Status.WRONG: CheckResult.WRONG}


#: What a worker answers to a request of a family.
Record = TypeVar("Record", Instance, Finished)


class Sink(Protocol):
    """A receiver of rows: a run folder (`xebench.results.RunWriter`), or a sender to one."""

    def append(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take rows of a measured table."""

    def append_checks(self, checks: Iterable[CheckRow]) -> None:
        """Take checks."""


class _BudgetSpent(Exception):
    """The run's budget, or a family's share, ended before it was measured; the message is the reason of its cases."""

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(f"not measured: {what} is spent{detail}")


@dataclass
class Manager:
    """Runs families one after another on one device.

    Attributes:
        device: the row of the device, for the static columns of the cases.
        sink: destination of rows.
        worker: worker that measures on the device; closed with the manager.
        sampling: limits of the sampling.
        timeout_s: silence after which a worker counts as hung.
        seed: seed of the data and of the block orders.
        first: numbers of the first sample and of every family's first block; a resumed run goes on counting.
        notice: callback with the name of the running variant, for progress.
        say: function that prints a permanent notice.
        sample_flags: function that returns further flags of arriving samples.
        clock: seconds, for tests.
        worker_was_killed: True if another process killed a worker, so that its current case must be measured again.
    """

    device: Mapping[str, Any]
    sink: Sink
    worker: DeviceWorker
    _: KW_ONLY
    sampling: Sampling
    timeout_s: float
    seed: int
    first: tuple[int, int] = (0, 0)
    notice: Callable[[str], None] = lambda text: None
    say: Callable[[str], None] = lambda text: None
    sample_flags: Callable[[], Sequence[Flag]] = tuple
    clock: Clock = time.monotonic

    def __post_init__(self) -> None:
        self._next_sample, self._first_block = self.first
        self.worker_was_killed = False
        self._end_s = self._patience_s = math.inf
        self._round_began_s, self._is_making = 0.0, False
        self._sampled_s: list[float] = []
        self._upcoming: Sequence[Upcoming] = ()
        self._families: dict[str, FamilyProgress] = {}
        self._priors: dict[tuple[str, str], Prior] = {}

    def measure_instrument(self) -> Mapping[str, Any]:
        """The instrument's own error: columns of the table ``devices``.

        Raises:
            BrokenEnvironment: the worker does not survive it.
        """
        try:
            columns: Mapping[str, Any] = self.worker.call(
                "instrument", look=Silence("the instrument", self.say, clock=self.clock).look
            )
        except Lost as lost:
            raise BrokenEnvironment(f"measuring the instrument failed: {lost.how}; try 'xebench doctor'") from None
        return columns

    def announce(self, families: Iterable[Family], reason: str = ENDED_BEFORE) -> None:
        """Write the cases of families that are not measured yet, or that will not be, with the reason."""
        result = CaseResult(reason=reason).columns()
        cases = [fixed for family in families for fixed in self._fixed_columns(family).values()]
        self.sink.append("cases", [{**fixed, **result} for fixed in cases])

    @property
    def next_sample(self) -> int:
        """The first number that no sample has."""
        return self._next_sample

    def restore(self, progress: FamilyProgress) -> None:
        """Take over what an earlier session has of a family."""
        self._families[self._key(progress.family)] = progress
        self._priors.clear()

    def run_family(
        self,
        family: Family,
        planned: Round = FIRST_ROUND,
        budget_s: float = math.inf,
        upcoming: Sequence[Family] = (),
    ) -> dict[str, str]:
        """Measure one round of a family, and return each variant's status (`NOT_MEASURED` if the budget ended first).

        Args:
            family: family to measure.
            planned: its round. After the first one, variants that are ok continue until all samples are taken.
            budget_s: seconds left for the run; sampling takes no longer, a hung worker only slightly.
            upcoming: families that are likely to come next; data of those that the same worker measures can be made
                meanwhile.

        Raises:
            Stopped: a signal arrived; everything that the worker had sent is written.
        """
        self._round_began_s = self.clock()
        self._end_s, self._patience_s = self._round_began_s + budget_s, planned.patience_s
        self._upcoming = [
            Upcoming(each.pattern.source, each.pattern.name, each.parameters)
            for each in upcoming
            if _share_a_worker(family.pattern, each.pattern)
        ]
        progress = self._begin(family, planned)
        try:
            self._measure(progress)
        except _BudgetSpent as end:
            if not progress.instances:  # else what is on disk counts
                self.sink.append("cases", progress.give_up(progress.waiting, NOT_MEASURED, str(end)))
        progress.end(self.clock() - self._round_began_s)
        self.sink.append("cases", progress.rows())
        return progress.statuses()

    def progress_of(self, family: Family) -> FamilyProgress | None:
        """The progress with a family; None before its first round."""
        return self._families.get(self._key(family))

    def close(self) -> None:
        """End the workers."""
        self.worker.close_all()

    def _begin(self, family: Family, planned: Round) -> FamilyProgress:
        """The progress with a family, new in the first round; variants to measure wait."""
        key = self._key(family)
        if not (planned.number and key in self._families):
            fixed = self._fixed_columns(family)
            self._families[key] = FamilyProgress(family, fixed, self.sampling, self._first_block)
            self.sink.append("cases", self._families[key].rows())
        self._families[key].begin(planned)
        return self._families[key]

    def _key(self, family: Family) -> str:
        return family.case_id("", str(self.device["device_class"]))

    def _fixed_columns(self, family: Family) -> Mapping[str, dict[str, Any]]:
        return fixed_columns(family, self.device, self.seed, self.sampling.precision)

    def _measure(self, progress: FamilyProgress) -> None:
        """Measure a round of the waiting variants, instance after instance.

        Raises:
            _BudgetSpent: the run's time was over before.
        """
        pattern = progress.family.pattern
        if not (is_builtin(pattern.source) or is_as_declared(pattern)):
            why = "the pattern file was changed during the run: measure it again"
            self.sink.append("cases", progress.leave(progress.waiting, why))
            return
        if not self._has_worker(progress):  # what its start takes is no part of the budget for sampling
            return
        limits = progress.limits(self._end_s - self.clock())
        last, ends = progress.is_last(limits), []
        part = limits.for_each_state()
        for state in part.states:
            earlier = [one.series for one in progress.of_state(state)]
            instances = Instances(part, earlier, last=last, prior=self.prior(pattern.metric, state))
            reason = NEXT_INSTANCE
            while reason == NEXT_INSTANCE and (one := self._measure_instance(progress, state, instances)):
                reason = instances.add(one.series, one.blocks, one.seconds, enough=one.enough)
            ends.append(reason if progress.waiting else "")
        self._finish_family(progress)
        progress.finish_all(end_of_round(ends, last=last))

    def _has_worker(self, progress: FamilyProgress) -> bool:
        """Start a worker for a family if need be; False if none starts with its variables, which is its error."""
        pattern = progress.family.pattern
        self.worker.use(pattern.environment, pattern.source)
        try:
            self.worker.ready()
        except XebenchError as error:
            if not pattern.environment:
                raise
            reason = f"with environment={dict(pattern.environment)}: {error}"
            self.sink.append("cases", progress.give_up(progress.waiting, Status.ERROR, reason))
            return False
        return True

    def _measure_instance(self, progress: FamilyProgress, state: State, instances: Instances) -> Instance | None:
        """Measure an instance of the waiting variants, each time without those at which a worker was lost.

        Returns:
            The instance; None if no variant is left.

        Raises:
            _BudgetSpent: the run's time was over before.
        """
        while progress.waiting and self._has_worker(progress):
            shared, first_sample, lost_s = self.worker.is_shared, self._next_sample, progress.lost_s
            instance, lost = None, None
            try:
                instance = self._ask(self._request(progress, state, instances), Instance, progress)
                failed = progress.has_failed(instance)
            except Lost as loss:
                lost, failed = loss, loss.status != Status.INTERRUPTED  # no file kills the process from outside
            if failed and shared:  # maybe another file has caused it
                self.worker.close()
                progress.lost_s += 0.0 if instance is None else instance.seconds
            elif instance is not None:
                self._take_instance(progress, instance, first_sample)
                return instance
            elif lost is not None:
                self._take_loss(progress, lost)
            instances.lose(progress.lost_s - lost_s)
        return None

    def _request(self, progress: FamilyProgress, state: State, instances: Instances) -> MeasureInstance:
        family, variants = progress.family, list(progress.waiting)
        limits, left_s = instances.limits, self._end_s - self.clock()
        return MeasureInstance(
            source=family.pattern.source,
            pattern=family.pattern.name,
            parameters=family.parameters,
            variants=variants,
            case_ids={name: progress.fixed[name]["case_id"] for name in variants},
            seed=self.seed,
            number=progress.next_instance,
            state=state,
            limits=replace(
                limits, left_s=max(0.0, min(limits.left_s, left_s)), longest_s=min(limits.longest_s, max(0.0, left_s))
            ),
            first_sample=self._next_sample,
            first_block=progress.next_block,
            compiled=[name for name in variants if name in progress.compiled],
            compared=family.compared(str(self.device["device_class"])),
            upcoming=self._upcoming,
        )

    def _take_instance(self, progress: FamilyProgress, instance: Instance, first_sample: int) -> None:
        """Write an instance: first what the check of each variant says of its samples.

        Killed in between, the run has samples that count and a case that still waits; the other way round it would
        have a case that is over, and samples that never count.
        """
        variants = list(progress.waiting)
        rows = progress.add(instance)
        self._priors.clear()
        verdicts = {name: _CHECK_RESULTS.get(instance.results[name].status) for name in variants}
        if self._next_sample > first_sample:
            self.sink.append_checks(
                CheckRow(progress.fixed[name]["case_id"], first_sample, self._next_sample, verdict)
                for name, verdict in verdicts.items()
                if verdict is not None
            )
        self.sink.append("cases", rows)

    def _take_loss(self, progress: FamilyProgress, lost: Lost) -> None:
        """Give up the variant that was at work in a worker that was lost; all of them if it was none.

        Raises:
            _BudgetSpent: the run's time is over.
        """
        if lost.status == Status.INTERRUPTED:
            self.worker_was_killed = True
        given_up = [name for name in progress.waiting if lost.variant in (None, name)]
        after = f", after {progress.hung[0]} had hung" if lost.status == Status.TIMEOUT and progress.hung else ""
        self.sink.append("cases", progress.give_up(given_up, lost.status, f"{lost}{after}"))
        if lost.status == Status.TIMEOUT:
            what, waited_s = lost.variant or lost.stage, lost.silent_s or 0.0
            self.sink.append("cases", progress.give_up_after_hang(what, waited_s, self.timeout_s))
        if progress.waiting and self.clock() >= self._end_s:
            raise _BudgetSpent(_WHOLE_BUDGET)

    def _finish_family(self, progress: FamilyProgress) -> None:
        """Release a family; after its first round with the facts that need no sample."""
        if not self.worker.is_running:  # lost, with all that it had
            return
        first = all(progress.results[name].facts.get("traced") is None for name in progress.waiting)
        try:
            finished = self._ask(FinishFamily(first), Finished, progress)
        except _BudgetSpent:  # all that counts is there
            return
        except Lost as lost:
            if lost.variant is not None and lost.status != Status.INTERRUPTED:
                self._take_loss(progress, lost)
            return
        progress.add_seconds(finished.parts)
        progress.take(finished.results)
        self.worker.close_if_large()

    def _silence_s(self, patience_s: float) -> float:
        """The seconds that a worker may be silent: a hang takes no more of the run's budget than the family's share.

        It may be silent for as long as the round has taken so far, too: that would be lost. Numpy says nothing while it
        makes a family's data, without which no later round is possible. Nothing goes on when the run's budget is spent.
        """
        now_s = self.clock()
        round_s = max(self._patience_s + GRACE_S, now_s - self._round_began_s)
        worth_s = math.inf if self._is_making else round_s
        left_s = max(0.0, min(self._end_s + END_GRACE_S - now_s, worth_s))
        return min(patience_s, round(left_s, 1)) if left_s < patience_s else patience_s

    def prior(self, metric: str, state: str) -> Prior:
        """The variance between instances, pooled so far over all pairs of a metric."""
        if (metric, state) not in self._priors:
            alike = [each for each in self._families.values() if each.family.pattern.metric == metric]
            known = [medians for each in alike for medians in each.medians(state)]
            self._priors[metric, state] = prior_of(known) if len(known) >= FEWEST_PAIRS else NOTHING
        return self._priors[metric, state]

    # ---- one request --------------------------------------------------------------------------------------------

    def _ask(self, request: Message, kind: type[Record], progress: FamilyProgress) -> Record:
        """Send a request; write the rows that come, and return the record.

        Raises:
            Lost: the worker was lost.
            _BudgetSpent: it was silent when the run's time was over.
        """
        patience_s = progress.patience_s(self.timeout_s)
        silence = Silence(progress.family.title(), self.say, self.notice, self.clock)
        self._is_making, self._sampled_s = True, []
        record: Record | None = None
        names = [variant.name for variant in progress.family.pattern.variants]
        answers = self.worker.answers(request, names, silence_s=lambda: self._silence_s(patience_s), look=silence.look)
        try:
            for answer in answers:
                silence.heard()
                if isinstance(answer, kind):
                    record = answer
                self._take(answer, progress)
        except Lost as lost:
            progress.lost_s += self._sampled_s[-1] - self._sampled_s[0] if self._sampled_s else 0.0
            if lost.status == Status.INTERRUPTED:
                self.say(f"{progress.family.title()}: a worker was {lost.how}")
            if lost.silent_s is not None and lost.silent_s < patience_s:
                # stopped before its timeout, so it is unknown whether it hung
                at_work = f"{lost.variant or 'the worker'} in {lost.stage}: {lost.how}"
                what = _WHOLE_BUDGET if self.clock() >= self._end_s else _SHARE_OF_BUDGET
                raise _BudgetSpent(what, f" ({at_work})") from None
            if record is None:
                raise
        except Stopped:
            for answer in self.worker.rest():
                self._take(answer, progress)
            raise
        finally:
            progress.slowest_step_s = max(progress.slowest_step_s, silence.slowest_step_s)
        assert record is not None
        return record

    def _take(self, answer: WorkerMessage, progress: FamilyProgress) -> None:
        """Take rows, or a sign of life."""
        if isinstance(answer, TableRows):
            if answer.table == "samples":
                self._count(answer.rows, progress)
            self.sink.append(answer.table, answer.rows)
        elif isinstance(answer, Step):
            self._is_making = answer.stage in (Stage.PROBLEM, Stage.REFERENCE)

    def _count(self, samples: Sequence[dict[str, Any]], progress: FamilyProgress) -> None:
        """Note which numbers are taken, and mark what was measured beside another run."""
        flags = self.sample_flags()
        for sample in samples:
            self._next_sample = max(self._next_sample, sample["sample_id"] + 1)
            progress.number(sample)
            if sample["instance"] is not None:
                self._sampled_s = [*self._sampled_s[:1], self.clock()]
            sample["sample_flags"] = metrics.with_flags(sample["sample_flags"], *flags)


def _share_a_worker(one: PatternInfo, other: PatternInfo) -> bool:
    """True if a worker may prepare one beside the other: a stranger's file shares no process with another file."""
    return one.environment == other.environment and all(is_builtin(pattern.source) for pattern in (one, other))
