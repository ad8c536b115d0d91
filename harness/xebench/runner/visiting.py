"""Visits to the families of a run, one after another, as `xebench.runner.visits` plans them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial

from xebench.measuring.case_rows import NOT_MEASURED
from xebench.measuring.sampling.limits import Clock
from xebench.patterns.plan import Family
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.manager import Manager
from xebench.runner.preliminary import PairSoFar, pairs_so_far
from xebench.runner.resource_limits import RunBudget
from xebench.runner.run_options import Progress
from xebench.runner.visits import FamilyState, Visits
from xebench.system.runtime.machine import has_cores_to_spare
from xebench.vocabulary import DeviceClass


@dataclass(frozen=True)
class Unvisited:
    """Families that the time was not enough for.

    Attributes:
        never: families that were not visited.
        cut_off: how many families lack results, since a visit was cut off or a worker was killed.
        wide: how many have results, and were to be visited again.
    """

    never: Sequence[Family]
    cut_off: int
    wide: int


@dataclass
class Visiting:
    """Visits families.

    Attributes:
        families: all of them; what an earlier session has of one is restored in the manager.
        manager: measures.
        visits: plans.
        budget: of the run.
        progress: is told.
        held: within it a signal waits until what a worker had sent is taken.
        clock: seconds, for tests.
    """

    families: Sequence[Family]
    manager: Manager
    visits: Visits
    budget: RunBudget
    progress: Progress
    _: KW_ONLY
    held: Callable[[], AbstractContextManager[object]]
    clock: Clock = time.monotonic
    _told: set[int] = field(default_factory=set)

    def run(self) -> Unvisited:
        """Visit until nothing is left to do, or no time for it."""
        states = [self._look(number) for number in range(len(self.families))]
        done, spent_s = 0, 0.0
        while (chosen := self.visits.next(states, left_s := self.budget.left_s())) is not None:
            number, visit = chosen
            family = self.families[number]
            seconds_to_come = self.visits.seconds_to_come(states, left_s, spent_s)
            self.progress.family(done, done + self.visits.to_come(states, left_s), family.title(), seconds_to_come)
            begin_s = self.clock()
            with self.held():
                self.manager.run_family(family, visit, left_s, self._upcoming(states, number, left_s))
            states[number] = self._look(number)
            done, spent_s = done + 1, spent_s + self.clock() - begin_s
        self._tell_the_rest(states)
        never = [family for family, state in zip(self.families, states, strict=True) if not state.visits]
        cut_off = sum(self._is_cut_off(family) for family in self.families)
        return Unvisited(never, cut_off, sum(bool(state.visits) and not state.over for state in states))

    def _upcoming(self, states: Sequence[FamilyState], number: int, left_s: float) -> Family | None:
        """The family that is next if this visit changes nothing but its own number, where its data can be made now."""
        if not has_cores_to_spare(is_cpu=self.manager.device["device_class"] == DeviceClass.CPU):
            return None
        then = [*states]
        then[number] = replace(then[number], visits=then[number].visits + 1)
        chosen = self.visits.next(then, left_s)
        return None if chosen is None else self.families[chosen[0]]

    def _is_cut_off(self, family: Family) -> bool:
        known = self.manager.progress_of(family)
        return known is not None and NOT_MEASURED in [result.status for result in known.results.values()]

    def _look(self, number: int) -> FamilyState:
        """The present state of a family; sure answers are reported once."""
        known = self.manager.progress_of(self.families[number])
        if known is None or known.visit is None:
            return FamilyState(rest_s=self.visits.sampling.budget_s)
        pairs = self._pairs(known)
        state = FamilyState(
            visits=known.visit.number + 1,
            over=known.is_over,
            rest_s=known.rest_s,
            beside_s=known.beside_s,
            instance_s=known.instance_s,
            pairs=[pair.state for pair in pairs if pair.state is not None],
        )
        if state.over or self._is_sure(state):
            self._tell(number, pairs)
        return state

    def _pairs(self, known: FamilyProgress) -> list[PairSoFar]:
        return pairs_so_far(known, self.manager.device, partial(self.manager.prior, known.family.pattern.metric))

    def _is_sure(self, state: FamilyState) -> bool:
        few = self.visits.sampling.few_instances
        return bool(state.pairs) and all(pair.wanted is None and pair.instances >= few for pair in state.pairs)

    def _tell_the_rest(self, states: Sequence[FamilyState]) -> None:
        """No visit is to come: answers that are not sure are the last ones, too."""
        for number, state in enumerate(states):
            known = self.manager.progress_of(self.families[number])
            if state.visits and known is not None:
                self._tell(number, self._pairs(known))

    def _tell(self, number: int, pairs: Sequence[PairSoFar]) -> None:
        if number not in self._told:
            self._told.add(number)
            answers = [(pair.variant, str(pair.judgement.answer), pair.words) for pair in pairs]
            self.progress.finished(self.families[number].title(), answers)
