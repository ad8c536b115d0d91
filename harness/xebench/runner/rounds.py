"""The rounds of a run: of one family after another, planned by what their instances say so far.

The progress lines show speed-ups. Answers need all pairs of the run: the table `pairs` has them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import islice
from typing import Final

from xebench.measuring.case_rows import NOT_MEASURED
from xebench.measuring.sampling import Clock
from xebench.patterns.plan import Family
from xebench.records.claim import Claim
from xebench.results.analysis.answer import Circumstances, judge
from xebench.results.analysis.intervals import Interval, grouped_interval
from xebench.results.analysis.judge import Pair, in_brief, pairs_of_family
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.manager import Manager
from xebench.runner.resource_limits import RunBudget
from xebench.runner.round_plan import FamilyState, PairState, RoundPlan
from xebench.runner.run_options import Progress
from xebench.system.runtime.machine import spare_cores
from xebench.vocabulary import Answer, DeviceClass, Outcome, Reason, find_baseline

#: A family makes room for others if even an interval wider by this factor would answer its claim. Repeated looks find
#: an answer by luck: with ten looks, intervals wider by 1.3 (confidence 0.9894) are wrong together as often as one of
#: 95 % is alone (Pocock 1977, "Group sequential methods in the design and analysis of clinical trials", table 1).
MARGIN: Final = 1.3

#: Answers that a progress line prints before the reason.
_WITH_ANSWER: Final = (Answer.SKIPPED, Answer.NOT_ASKED)


@dataclass(frozen=True)
class PairSoFar:
    """A variant and its comparison, while the run continues.

    Attributes:
        variant: name of the variant.
        words: short text: the speed-up, or why there is none. The answer is for the end, when all pairs are known.
        claimed: True if something is claimed of the pair.
        state: state for the plan; None if there is and will be no speed-up.
    """

    variant: str
    words: str
    claimed: bool
    state: PairState | None = None


def pairs_so_far(progress: FamilyProgress) -> list[PairSoFar]:
    """All pairs of a family, in each state of the caches."""
    members = progress.rows()
    baseline = find_baseline(members, role=lambda case: str(case["role"]))
    return [
        pair for one in pairs_of_family(members) for pair in _pair(progress, one, is_first=one.baseline is baseline)
    ]


def _pair(progress: FamilyProgress, one: Pair, *, is_first: bool) -> Iterator[PairSoFar]:
    name, against, claimed = str(one.case["variant"]), str(one.baseline["variant"]), one.claim is not None
    if judged := one.ended():
        word = one.claim.word if one.claim else None
        why = in_brief(judged.answer, judged.code, judged.reason, word=word, baseline=against) or judged.answer
        yield PairSoFar(name, f"{judged.answer}: {why}" if judged.answer in _WITH_ANSWER else why, claimed)
        return
    states, sampling = progress.sampling.states, progress.sampling
    for state in states:
        logs = _logs(progress, state, name if is_first else f"{name}/{against}")
        speedup = math.exp(logs.estimate) if logs.n else math.nan
        shown = f"{speedup:{'.2f' if speedup < 10 else '.3g'}}x" if logs.n else Reason.NO_SAMPLE
        if logs.n and not logs.known:
            shown += f" of {logs.n} block{'' if logs.n == 1 else 's'}"
        over = "" if is_first else f"over {against}"
        words = " ".join(filter(None, (shown, over, state if len(states) > 1 else "")))
        yield PairSoFar(name, words, claimed, pair_state(logs, one.claim, one.band, sampling.few_instances))


def _logs(progress: FamilyProgress, state: str, key: str) -> Interval:
    """The interval of a log speed-up so far."""
    instances = [one.series for one in progress.of_state(state)]
    return grouped_interval([one[key].settled for one in instances if key in one])


def ratio_of(logs: Interval) -> Interval:
    """The interval of a speed-up from that of its logarithm."""
    estimate, low, high = (math.exp(value) for value in (logs.estimate, logs.low, logs.high))
    return replace(logs, estimate=estimate, low=low, high=high)


def pair_state(logs: Interval, claim: Claim | None, band: float, fewest: int) -> PairState:
    """The state of a pair, for the plan of rounds.

    Args:
        logs: the interval of its log speed-up.
        claim: None when nothing is claimed.
        band: relative difference below which two times are the same in practice.
        fewest: instances that an answer needs: the interval of one alone does not hold what differs between them.
    """
    groups = logs.groups if logs.n else 0
    if claim is None or claim.not_asked:
        return PairState(logs.half_width, groups)
    wider = replace(logs, low=logs.estimate - MARGIN * logs.half_width, high=logs.estimate + MARGIN * logs.half_width)
    ratio = ratio_of(wider) if logs.known else logs
    undecided = judge(ratio, claim, Circumstances(), band).answer == Answer.UNDECIDED
    open_still = undecided or groups < fewest
    return PairState(logs.half_width, groups, _wanted(logs, claim, band) if open_still else None)


def _wanted(logs: Interval, claim: Claim, band: float) -> float:
    """The half-width that would answer a claim, if the estimate stays: see `xebench.results.analysis.answer.judge`."""
    distance, edge = abs(logs.estimate), math.log1p(claim.within or band)
    if not logs.known:
        return edge / MARGIN
    own_width = claim.word == Outcome.SAME and claim.within
    return (abs(distance - edge) if own_width else max(distance, edge - distance)) / MARGIN


@dataclass(frozen=True)
class Unfinished:
    """Families without enough time.

    Attributes:
        never: families without a round.
        cut_off: number of families without results, because a round was cut off or a worker was killed.
        wide: number of families with results that need another round.
    """

    never: Sequence[Family]
    cut_off: int
    wide: int


@dataclass
class Rounds:
    """Measures families, round after round.

    Attributes:
        families: all families; the manager restores results of an earlier session.
        manager: manager that measures.
        plan: planner of the rounds.
        budget: budget of the run.
        progress: progress display.
        held: context manager that defers signals until everything sent by a worker is received.
        clock: seconds, for tests.
    """

    families: Sequence[Family]
    manager: Manager
    plan: RoundPlan
    budget: RunBudget
    progress: Progress
    _: KW_ONLY
    held: Callable[[], AbstractContextManager[object]]
    clock: Clock = time.monotonic
    _told: set[int] = field(default_factory=set)

    def run(self) -> Unfinished:
        """Measure until nothing is left to do, or no time for it."""
        states = [self._look(number) for number in range(len(self.families))]
        spent_s = 0.0
        spare = spare_cores(is_cpu=self.manager.device["device_class"] == DeviceClass.CPU)
        while chosen := [*islice(self.plan.in_order(states, left_s := self.budget.left_s()), 1 + spare)]:
            (number, planned), *then = chosen
            family, upcoming = self.families[number], [self.families[later] for later, _ in then]
            seconds_to_come = self.plan.seconds_to_come(states, left_s, spent_s)
            self.progress.family(len(self._told), len(self.families), family.title(), seconds_to_come)
            begin_s = self.clock()
            with self.held():
                self.manager.run_family(family, planned, left_s, upcoming)
            states[number] = self._look(number)
            if self._is_cut_off(family):
                self._let_others_come_first(states, family)
            spent_s += self.clock() - begin_s
        self._tell_the_rest(states)
        never = [family for family, state in zip(self.families, states, strict=True) if not state.rounds]
        cut_off = sum(self._is_cut_off(family) for family in self.families)
        return Unfinished(never, cut_off, sum(bool(state.rounds) and not state.over for state in states))

    def _is_cut_off(self, family: Family) -> bool:
        known = self.manager.progress_of(family)
        return known is not None and NOT_MEASURED in [result.status for result in known.results.values()]

    def _let_others_come_first(self, states: list[FamilyState], cut_off: Family) -> None:
        """Have the families of this one's pattern wait, which will hardly take less time."""
        for number, family in enumerate(self.families):
            if family.pattern is cut_off.pattern:
                states[number] = replace(states[number], late=True)

    def _look(self, number: int) -> FamilyState:
        """The present state of a family; it is reported once when its answers are sure."""
        known = self.manager.progress_of(self.families[number])
        if known is None or known.round is None:
            return FamilyState(rest_s=self.plan.sampling.budget_s)
        pairs = pairs_so_far(known)
        state = FamilyState(
            rounds=known.round.number + 1,
            over=known.is_over,
            rest_s=known.rest_s,
            beside_s=known.beside_s,
            instance_s=known.instance_s,
            pairs=[pair.state for pair in pairs if pair.state is not None],
        )
        if state.over or self._is_sure(state):
            self._tell(number, pairs)
        return state

    def _is_sure(self, state: FamilyState) -> bool:
        few = self.plan.sampling.few_instances
        return bool(state.pairs) and all(pair.wanted is None and pair.instances >= few for pair in state.pairs)

    def _tell_the_rest(self, states: Sequence[FamilyState]) -> None:
        """Report the remaining families, which have no other round, although their answers are not sure."""
        for number, state in enumerate(states):
            known = self.manager.progress_of(self.families[number])
            if state.rounds and known is not None:
                self._tell(number, pairs_so_far(known))

    def _tell(self, number: int, pairs: Sequence[PairSoFar]) -> None:
        if number not in self._told:
            self._told.add(number)
            told = [pair for pair in pairs if pair.claimed] or pairs
            self.progress.finished(self.families[number].title(), [(pair.variant, pair.words) for pair in told])
