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
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Protocol

from xebench.errors import BrokenEnvironment, XebenchError
from xebench.measuring import messages
from xebench.measuring.case_rows import ENDED_BEFORE, NOT_MEASURED, CaseResult, fixed_columns
from xebench.measuring.device_worker import DeviceWorker, Lost
from xebench.measuring.messages import (
    MeasureFamily,
    Upcoming,
    WorkerMessage,
)
from xebench.measuring.sampling import Clock, Sampling
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.plan import Family
from xebench.patterns.registry import is_as_declared, is_builtin
from xebench.records.claim import from_json, is_expected
from xebench.results.analysis import metrics
from xebench.results.analysis.moderation import Prior, prior_of
from xebench.results.analysis.summaries import CheckRow
from xebench.runner.family_progress import FamilyProgress, RoundShare
from xebench.runner.resource_limits import Stopped
from xebench.runner.round_plan import Round
from xebench.vocabulary import CheckResult, Flag, Status

#: Seconds before the first silence warning, and between warnings.
FIRST_TOLD_S: Final = 10.0

TOLD_AGAIN_S: Final = 60.0


@dataclass
class Silence:
    """The silences of a worker while it is at one request.

    Attributes:
        request: the current request, for the warning's text.
        say: prints a notice.
        clock: seconds.
        slowest_step_s: the longest time from one sign of life to the next so far; what it is at now is no part of it.
    """

    request: str
    say: Callable[[str], None]
    clock: Clock = time.monotonic
    slowest_step_s: float = 0.0
    _at: tuple[str | None, str] = (None, "")
    _tell_after_s: float = FIRST_TOLD_S
    _heard_s: float = field(init=False)
    _moved_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._heard_s = self._moved_s = self.clock()

    def heard(self) -> None:
        """The worker has said something."""
        self._heard_s, self._tell_after_s = self.clock(), FIRST_TOLD_S
        self._moved()

    def look(self, variant: str | None, stage: str, limit_s: float) -> None:
        """It says nothing, and is at this now; it may be silent for so long."""
        if (variant, stage) != self._at:
            self._at = variant, stage
            self._moved()
        silent_s = self.clock() - self._heard_s
        if silent_s >= self._tell_after_s:
            self._tell_after_s += TOLD_AGAIN_S
            who = f"{self.request}: {variant}" if variant else self.request
            self.say(f"{who} ({stage}): no answer for {silent_s:.0f} s, waiting up to {limit_s:.0f} s")

    def _moved(self) -> None:
        now = self.clock()
        self.slowest_step_s = max(self.slowest_step_s, now - self._moved_s)
        self._moved_s = now


# A worker may be silent for this long beyond its family's share of the run's budget: it compiles, or checks.
GRACE_S = 10.0

# A worker may go on for this long when the run's budget is spent: it checks what it has sampled.
END_GRACE_S = 3.0

#: A family's only round: as long as its own budget allows.
FIRST_ROUND: Final = Round()

_WHOLE_BUDGET: Final = "the budget for the run"

_SHARE_OF_BUDGET: Final = "this family's share of the budget for the run"

# Result of a variant's last check in a round, by the status that it leaves. Other statuses come from no check.
_CHECK_RESULTS = {Status.OK: CheckResult.PASSED, Status.WRONG: CheckResult.WRONG}


# Statuses that code of another file in the same process may have caused.
_FAILURES = {Status.WRONG, Status.ERROR}


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


class _AnotherFilesFault(Exception):
    """A family has failed, and the worker had run another file's code: it does not count, and the worker is ended."""


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
                "instrument", look=Silence("the instrument", self.say, self.clock).look
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
            if not progress.is_later_round:  # else what is on disk counts
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
        """Measure the waiting variants, each time without those at which a worker was lost.

        Raises:
            _BudgetSpent: the run's time was over before.
        """
        pattern = progress.family.pattern
        if not (is_builtin(pattern.source) or is_as_declared(pattern)):
            why = "the pattern file was changed during the run: measure it again"
            self.sink.append("cases", progress.leave(progress.waiting, why))
        while progress.waiting:
            try:
                lost = self._measure_with_one_worker(progress)
            except _AnotherFilesFault:
                continue
            if lost is None:
                break
            self.worker_was_killed = self.worker_was_killed or lost.status == Status.INTERRUPTED
            # the end of a worker does not affect cases that it has reported
            lost_with_it = [name for name in progress.waiting if lost.variant in (None, name)]
            after = f", after {progress.hung[0]} had hung" if lost.status == Status.TIMEOUT and progress.hung else ""
            self.sink.append("cases", progress.give_up(lost_with_it, lost.status, f"{lost}{after}"))
            if lost.status == Status.TIMEOUT:
                what, waited_s = lost.variant or lost.stage, lost.silent_s or 0.0
                self.sink.append("cases", progress.give_up_after_hang(what, waited_s, self.timeout_s))
            if progress.waiting and self.clock() >= self._end_s:
                raise _BudgetSpent(_WHOLE_BUDGET)

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

    # ---- one worker's share of a round --------------------------------------------------------------------------

    def _measure_with_one_worker(self, progress: FamilyProgress) -> Lost | None:
        """Measure the waiting variants with one worker. Return None when it finished, else how it was lost.

        Raises:
            _AnotherFilesFault: a variant has failed, which counts only where it is the fault of its own file.
            _BudgetSpent: it was silent when the run's time was over.
        """
        family, variants = progress.family, list(progress.waiting)
        environment = family.pattern.environment
        self.worker.use(environment, family.pattern.source)
        try:
            self.worker.ready()  # what that takes is no part of the budget for sampling
        except XebenchError as error:
            if not environment:
                raise
            return Lost(f"with environment={dict(environment)}: {error}", Status.ERROR)
        limits = progress.limits(self._end_s - self.clock())
        request = MeasureFamily(
            source=family.pattern.source,
            pattern=family.pattern.name,
            parameters=family.parameters,
            variants=variants,
            case_ids={name: progress.fixed[name]["case_id"] for name in variants},
            sampling=limits,
            seed=self.seed,
            first_sample=self._next_sample,
            first_block=progress.next_block,
            first_instance=progress.next_instance,
            compiled=[name for name in variants if name in progress.compiled],
            last=progress.is_last(limits),
            earlier={state: list(instances) for state, instances in progress.speedups.items()},
            compared=family.compared(str(self.device["device_class"])),
            priors={state: self.prior(family.pattern.metric, state) for state in limits.states},
            upcoming=self._upcoming,
        )
        share, complete = RoundShare(self._next_sample), False
        shared = self.worker.is_shared
        try:
            try:
                lost = self._follow(request, progress, share)
            except (Stopped, _BudgetSpent):
                self._finish(progress, share)
                raise
            if shared and self._has_failed(progress, request.variants, share):
                self.worker.close()
                raise _AnotherFilesFault
            self._finish(progress, share)
            complete = lost is None
            return lost
        finally:
            progress.add_share(share, complete=complete)
            self._priors.clear()
            self.worker.close_if_large()

    @staticmethod
    def _has_failed(progress: FamilyProgress, variants: Sequence[str], share: RoundShare) -> bool:
        """True if a worker was lost with a variant, or found one wrong or in error though no claim says so."""
        return not share.results.keys() >= set(variants) or any(
            result.status in _FAILURES
            and not is_expected(result.status, result.reason, from_json(progress.fixed[name]["claims"]))
            for name, result in share.results.items()
        )

    def prior(self, metric: str, state: str) -> Prior:
        """The variance between instances, pooled so far over all pairs of a metric."""
        if (metric, state) not in self._priors:
            alike = [each for each in self._families.values() if each.family.pattern.metric == metric]
            self._priors[metric, state] = prior_of(medians for each in alike for medians in each.medians(state))
        return self._priors[metric, state]

    def _follow(self, request: MeasureFamily, progress: FamilyProgress, share: RoundShare) -> Lost | None:
        """Take what a worker sends until it has finished, or is lost: see `_measure_with_one_worker`."""
        patience_s = progress.patience_s(self.timeout_s)
        silence = Silence(progress.family.title(), self.say, self.clock)
        self._is_making = True
        answers = self.worker.answers(
            request, request.variants, silence_s=lambda: self._silence_s(patience_s), look=silence.look
        )
        try:
            for answer in answers:
                silence.heard()
                self._take(answer, progress, share)
            return None
        except Lost as lost:
            if lost.silent_s is not None and lost.silent_s < patience_s:
                # stopped before its timeout, so it is unknown whether it hung
                at_work = f"{lost.variant or 'the worker'} in {lost.stage}: {lost.how}"
                what = _WHOLE_BUDGET if self.clock() >= self._end_s else _SHARE_OF_BUDGET
                raise _BudgetSpent(what, f" ({at_work})") from None
            return lost
        except Stopped:
            for answer in self.worker.rest():
                self._take(answer, progress, share)
            raise
        finally:
            progress.slowest_step_s = max(progress.slowest_step_s, silence.slowest_step_s)

    def _take(self, answer: WorkerMessage, progress: FamilyProgress, share: RoundShare) -> None:
        if isinstance(answer, messages.TableRows):
            if answer.table == "samples":
                self._count(answer.rows, progress, share)
            self.sink.append(answer.table, answer.rows)
        elif isinstance(answer, messages.CaseOver):
            share.results[answer.variant] = answer.result
        elif isinstance(answer, messages.StateSampled):
            share.speedups[answer.state] = list(answer.instances)
            share.told_s += answer.seconds
        elif isinstance(answer, messages.RoundSeconds):
            progress.add_seconds(answer.seconds)
        elif isinstance(answer, messages.Made):
            self._is_making = not answer.all_made
        elif isinstance(answer, messages.VariantChecked):
            progress.answered.add(answer.variant)
            self.notice(answer.variant)

    def _count(self, samples: Sequence[dict[str, Any]], progress: FamilyProgress, share: RoundShare) -> None:
        """Note which numbers are taken, and mark what was measured beside another run."""
        flags = self.sample_flags()
        for sample in samples:
            self._next_sample = max(self._next_sample, sample["sample_id"] + 1)
            progress.add_sample(sample)
            share.add_sample(sample, self.clock())
            sample["sample_flags"] = metrics.with_flags(sample["sample_flags"], *flags)

    def _finish(self, progress: FamilyProgress, share: RoundShare) -> None:
        """Write the last word on each variant in this round: first what its check says of its samples.

        Killed in between, the run has samples that count and a case that still waits; the other way round it would
        have a case that is over, and samples that never count.
        """
        for variant, result in share.results.items():
            row = progress.finish(variant, result)
            verdict = _CHECK_RESULTS.get(result.status)
            if verdict is not None and self._next_sample > share.first_sample:
                self.sink.append_checks([CheckRow(row["case_id"], share.first_sample, self._next_sample, verdict)])
            self.sink.append("cases", [row])


def _share_a_worker(one: PatternInfo, other: PatternInfo) -> bool:
    """True if a worker may prepare one beside the other: a stranger's file shares no process with another file."""
    return one.environment == other.environment and all(is_builtin(pattern.source) for pattern in (one, other))
