"""The plan of rounds, which family comes next and for how long: arithmetic on the families' states.

Without a budget for the run, families have three rounds each in turn, with a third of their own budget and instances.
With one every family has a first round, as shortly as the budget asks for; what is left goes where it is worth most: to
claims that can still be decided, to those families first where a second decides most of them, then to the widest
intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from xebench.measuring.sampling import Sampling
from xebench.results.analysis.intervals import student_factor

#: Rounds of each family in a run without a budget, if the family has as many instances.
ROUNDS: Final = 3

#: Share of the budget that the first round leaves to later ones, unless its rounds would be too short.
RESERVE: Final = 0.5

#: Seconds of sampling that a first round keeps before later rounds, and least of a first round in each state. Both are
#: for as many instances as an answer needs, three of 0.3 or 0.1 s: a second round would cost again what is beside
#: sampling. Of 267 claims of the reference run on a CPU three instances of 0.2 s decide 177, of 0.3 s 184 and of 0.5 s
#: 186.
USEFUL_S: Final = 0.9
LEAST_S: Final = 0.3

#: Expected seconds of the very first round without its sampling.
BESIDE_S: Final = 1.0

#: Multiple of its sampling time that a round may take until its instances make an interval.
OVERRUN: Final = 3.0

#: Relative growth in instances between two rounds: frequent looks would stop at an interval that is narrow by chance.
GROWTH: Final = 0.5

#: Half-width of a log speed-up above which all intervals count as equally wide.
WIDEST: Final = 1.0

#: Most further instances that are planned for a claim.
MOST_INSTANCES: Final = 1000


@dataclass(frozen=True)
class Round:
    """One round of a family.

    Attributes:
        number: index among the family's rounds, from 0.
        sampling_s: seconds of sampling.
        instances: number of instances, time permitting; None for the least that the family needs.
        longest_s: longest sampling, in seconds, to get an interval from its instances; 0 to stop regardless.
        patience_s: seconds that a silent worker may take from the other families.
    """

    number: int = 0
    sampling_s: float = math.inf
    instances: int | None = None
    longest_s: float = 0.0
    patience_s: float = math.inf


@dataclass(frozen=True)
class PairState:
    """The state of a pair.

    Attributes:
        half_width: half-width of the log speed-up's interval; infinite before there is one.
        instances: number of instances in the interval.
        wanted: half-width that would answer the claim; None if it is answered, or without a claim.
    """

    half_width: float
    instances: int
    wanted: float | None = None


@dataclass(frozen=True)
class FamilyState:
    """The state of a family.

    Attributes:
        rounds: number of finished rounds.
        over: True if it needs no other round: it is as precise as requested, all samples are taken, or it failed.
        rest_s: seconds of sampling left in its own budget.
        beside_s: seconds of the last round without sampling; None if unknown.
        instance_s: seconds of sampling per instance with enough blocks; None if unknown.
        pairs: pairs in each state of the caches.
        late: True if it waits for the other families' first rounds because a family of its pattern was cut off.
    """

    rounds: int = 0
    over: bool = False
    rest_s: float = math.inf
    beside_s: float | None = None
    instance_s: float | None = None
    pairs: Sequence[PairState] = ()
    late: bool = False

    @property
    def instances(self) -> int:
        """The instances of the pair that has the fewest."""
        return min((pair.instances for pair in self.pairs), default=0)


@dataclass(frozen=True)
class RoundPlan:
    """Plans rounds.

    Attributes:
        sampling: the limits of a family, all its rounds together.
        family_s: usual seconds of sampling of a family.
        budget_s: seconds for all rounds together; None: without a limit.
    """

    sampling: Sampling
    family_s: float
    budget_s: float | None = None

    @property
    def rounds(self) -> int:
        """Rounds of each family without a budget."""
        return usual_rounds(self.sampling)

    @property
    def round_s(self) -> float:
        """Usual seconds of sampling in a round; a first one takes no more."""
        return self.family_s / self.rounds

    def next(self, families: Sequence[FamilyState], left_s: float = math.inf) -> tuple[int, Round] | None:
        """The index of the next family and its round; None if nothing is left to do, or no time.

        Args:
            families: current states of the families.
            left_s: seconds left in the budget.
        """
        return next(self.in_order(families, left_s), None)

    def in_order(self, families: Sequence[FamilyState], left_s: float = math.inf) -> Iterator[tuple[int, Round]]:
        """The families with a round to come, in their order if no round changed anything: see `next`."""
        if self.budget_s is None:
            yield from self._in_turn(families)
        elif left_s > 0:
            new = [number for number, family in enumerate(families) if not family.over and not family.rounds]
            new.sort(key=lambda number: families[number].late)
            if left_s >= self._beside_s(families) + LEAST_S:
                yield from ((number, self._first(families, new, left_s)) for number in new)
            yield from self._best(families, left_s)

    def to_come(self, families: Sequence[FamilyState], left_s: float = math.inf) -> int:
        """The number of rounds to come, as far as it can be predicted."""
        opened = [family for family in families if not family.over]
        if self.budget_s is None:
            return sum(max(1, self.rounds - family.rounds) for family in opened)
        new = sum(not family.rounds for family in opened)
        usual_s = self._beside_s(families) + USEFUL_S
        return new + (max(0, int(left_s / usual_s) - new) if opened else 0)

    def seconds_to_come(self, families: Sequence[FamilyState], left_s: float, spent_s: float) -> float | None:
        """Seconds left: from the budget, or estimated from earlier rounds; None if unknown.

        Args:
            families: current states of the families.
            left_s: seconds left in the budget.
            spent_s: seconds spent on rounds so far.
        """
        if self.budget_s is not None:
            return max(0.0, left_s)
        measured = sum(family.rounds for family in families if family.beside_s is not None)
        return spent_s / measured * self.to_come(families) if measured else None

    def _in_turn(self, families: Sequence[FamilyState]) -> Iterator[tuple[int, Round]]:
        most = max(2, self.rounds)  # the only round may have been cut off by the budget of an earlier session
        waiting = [number for number, family in enumerate(families) if not family.over and family.rounds < most]
        for number in sorted(waiting, key=lambda each: families[each].rounds):
            family = families[number]
            seconds = family.rest_s / max(1, self.rounds - family.rounds)
            yield number, Round(family.rounds, seconds, usual_instances(self.sampling))

    def _first(self, families: Sequence[FamilyState], new: Sequence[int], left_s: float) -> Round:
        """A first round so long that all families have one, and later rounds have their part where that is possible."""
        assert self.budget_s is not None
        beside_s = self._beside_s(families)
        fair_s = left_s / len(new) - beside_s
        modest_s = (left_s - RESERVE * self.budget_s) / len(new) - beside_s
        # where not all can have a useful one, none has: what is left goes to those that it decides most for
        useful_s = USEFUL_S if (beside_s + USEFUL_S) * len(families) <= self.budget_s else LEAST_S
        least_s = LEAST_S * max(1, len(self.sampling.states))
        seconds = max(least_s, min(fair_s, self.round_s, max(modest_s, useful_s)))
        seconds = min(seconds, families[new[0]].rest_s)
        instances = self.sampling.instances or self.sampling.few_instances
        # the others must keep enough for the shortest useful round
        spare_s = left_s - beside_s - (len(new) - 1) * (beside_s + LEAST_S)
        longest_s = max(seconds, min(OVERRUN * seconds, spare_s))
        return Round(0, seconds, instances, longest_s, left_s / len(new))

    @staticmethod
    def _beside_s(families: Sequence[FamilyState]) -> float:
        """The seconds of a round beside sampling, by the rounds so far."""
        known = [family.beside_s for family in families if family.beside_s is not None]
        return sum(known) / len(known) if known else BESIDE_S

    # ---- later rounds -------------------------------------------------------------------------------------------

    def _best(self, families: Sequence[FamilyState], left_s: float) -> list[tuple[int, Round]]:
        """The affordable later rounds, those of most worth first."""
        usual_s = self._beside_s(families)
        rounds = self._affordable(families, usual_s, left_s)
        return sorted(rounds, key=lambda each: self._worth(families[each[0]], each[1], usual_s, left_s), reverse=True)

    def _affordable(
        self, families: Sequence[FamilyState], usual_s: float, left_s: float
    ) -> Iterator[tuple[int, Round]]:
        """The next round of each family, by its number, where the time is enough for it."""
        opened = sum(not family.over for family in families)
        for number, family in enumerate(families):
            instance_s = self._instance_s(family)
            most = int((left_s - _known(family.beside_s, usual_s)) / instance_s)
            if family.rounds and not family.over and most > 0:
                wanted = max(2, math.ceil(GROWTH * family.instances))
                instances = min(wanted, most, self.sampling.min_instances)
                seconds = min(family.rest_s, instances * instance_s)
                longest_s = min(OVERRUN * seconds, left_s - _known(family.beside_s, usual_s))
                yield number, Round(family.rounds, seconds, instances, longest_s, max(left_s / opened, longest_s))

    def _instance_s(self, family: FamilyState) -> float:
        return max(_known(family.instance_s, self.round_s), 1e-3)

    def _worth(self, family: FamilyState, planned: Round, usual_s: float, left_s: float) -> tuple[bool, float]:
        """The worth of a round: first whether it leads to answers within the time, then how much a second gives."""
        beside_s = _known(family.beside_s, usual_s)
        if (answers := self._answers_a_second(family, beside_s, left_s)) > 0:
            return True, answers
        assert planned.instances is not None
        return False, _narrowing(family, planned.instances) / (beside_s + planned.sampling_s)

    def _answers_a_second(self, family: FamilyState, beside_s: float, left_s: float) -> float:
        """The most answers that a second of rounds may give within the time, if nothing unexpected comes."""
        lacking = sorted(lack for pair in family.pairs if (lack := _lacking(pair, family.rounds)) < math.inf)
        times_s = [
            instances * self._instance_s(family) + math.ceil(instances / self.sampling.min_instances) * beside_s
            for instances in lacking
        ]
        return max((count / time_s for count, time_s in enumerate(times_s, 1) if time_s <= left_s), default=0.0)


def usual_instances(sampling: Sampling) -> int:
    """Instances of a round in a run without a budget, time permitting."""
    return sampling.instances or -(-sampling.min_instances // ROUNDS)


def usual_rounds(sampling: Sampling) -> int:
    """Rounds of each family in a run without a budget."""
    return -(-sampling.min_instances // usual_instances(sampling))


def earlier_round(sampling: Sampling, taken: int) -> Round:
    """The last round of an earlier session, by the number of its instances; another one is to follow."""
    finished = min(taken // usual_instances(sampling), usual_rounds(sampling) - 1)
    return Round(max(1, finished) - 1)


def _known(value: float | None, usual: float) -> float:
    return usual if value is None else value


def _lacking(pair: PairState, rounds: int) -> float:
    """Instances until a pair has an answer.

    That is unknown for a pair without an interval, or with one instance, whose interval does not hold what differs
    between them: it is tried, and the less the more rounds it had.
    """
    if pair.wanted is None:
        return math.inf
    if not math.isfinite(pair.half_width) or pair.instances < 2:
        return float(max(1, rounds) ** 2)
    more = 1
    while half_width_after(pair, more) > pair.wanted:
        more = math.ceil(more * (1 + GROWTH))
        if more > MOST_INSTANCES:
            return math.inf
    return float(more)


def _narrowing(family: FamilyState, more: int) -> float:
    """By how much the widest interval gets narrower; where there is none, less with every round that gave none."""
    widest = max(family.pairs, key=lambda pair: pair.half_width, default=PairState(math.inf, 0))
    if not math.isfinite(widest.half_width):
        return WIDEST / max(1, family.rounds) ** 2
    return min(widest.half_width, WIDEST) * (1 - half_width_after(widest, more) / (widest.half_width or math.inf))


def half_width_after(pair: PairState, more: int) -> float:
    """The half-width that a pair may be expected to have with so many instances more: Student's."""
    now, then = pair.instances, pair.instances + more
    factor = _student(then - 1) / _student(now - 1) if now > 1 else 1.0
    return pair.half_width * factor * math.sqrt(max(1, now) / then)


@lru_cache(maxsize=4096)
def _student(freedom: int) -> float:
    return student_factor(freedom)
