"""Made-up families whose true speed-ups are known: does a plan that looks at results find more answers, and false ones?

Half of the families have two equal variants, the others differ by 3 to 50 %; the guide says "faster" of all. Instances
differ by 0.5 to 10 %. A visit costs a second, and each instance half a second.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from xebench.measuring.sampling.limits import FEW_INSTANCES, Sampling
from xebench.runner.visiting import pair_state, ratio_of
from xebench.runner.visits import FamilyState, Visit, Visits
from xebench.tables.analysis.answer import Circumstances, judge, same_within
from xebench.tables.analysis.claim import Claim
from xebench.tables.analysis.intervals import Interval, grouped_interval
from xebench.vocabulary import Answer

FAMILIES: Final = 120
BUDGET_S: Final = 540.0
BESIDE_S: Final = 1.0
INSTANCE_S: Final = 0.5

_CLAIM: Final = Claim("faster")
_SAMPLING: Final = Sampling(few_instances=FEW_INSTANCES, passes=3)
_BAND: Final = same_within(_SAMPLING.precision)


@dataclass
class MadeUp:
    """A family: its true log speed-up, how much instances differ, and their medians so far."""

    truth: float
    spread: float
    medians: list[float] = field(default_factory=list)
    visits: int = 0

    def interval(self) -> Interval:
        """Of the log speed-up; of one instance as wide as what differs within it: a fifth of the spread."""
        if len(self.medians) == 1:
            half = self.spread / 5
            return Interval(self.medians[0], self.medians[0] - half, self.medians[0] + half, 10)
        return grouped_interval([[median] * 10 for median in self.medians])

    def state(self) -> FamilyState:
        """For the plan."""
        if not self.visits:
            return FamilyState()
        known = self.interval()
        over = known.groups >= _SAMPLING.min_instances and known.half_width < _SAMPLING.precision
        pair = pair_state(known, _CLAIM, _BAND, _SAMPLING.few_instances)
        return FamilyState(self.visits, over, beside_s=BESIDE_S, instance_s=INSTANCE_S, pairs=[pair])

    def visit(self, instances: int, source: random.Random) -> float:
        """Take instances; gives the seconds."""
        self.visits += 1
        self.medians += [source.gauss(self.truth, self.spread) for _ in range(instances)]
        return BESIDE_S + instances * INSTANCE_S

    def result(self) -> str:
        """``right``, ``false`` or ``undecided``, or ``not visited``."""
        if not self.visits:
            return "not visited"
        answer = judge(ratio_of(self.interval()), _CLAIM, Circumstances(), _BAND).answer
        if answer == Answer.UNDECIDED:
            return "undecided"
        right = Answer.NO_EFFECT if not self.truth else Answer.HOLDS if self.truth > 0 else Answer.INVERTS
        return "right" if answer == right else "false"


Next = Callable[[Sequence[FamilyState], float], tuple[int, Visit] | None]


def planned(states: Sequence[FamilyState], left_s: float) -> tuple[int, Visit] | None:
    """As a run with a budget does it."""
    return Visits(_SAMPLING, 2.0, BUDGET_S).next(states, left_s)


def in_turn(states: Sequence[FamilyState], left_s: float) -> tuple[int, Visit] | None:
    """Always the family that was visited least, whatever its results are, until it is as precise as asked for."""
    waiting = [number for number, state in enumerate(states) if not state.over]
    if left_s <= 0 or not waiting:
        return None
    return min(waiting, key=lambda number: states[number].visits), Visit(instances=2)


def simulate(choose: Next, seed: int) -> Counter[str]:
    """One run; how many families have which result."""
    source = random.Random(seed)
    families = [_make_up(number, source) for number in range(FAMILIES)]
    left_s, states = BUDGET_S, [family.state() for family in families]
    while (chosen := choose(states, left_s)) is not None:
        number, visit = chosen
        left_s -= families[number].visit(visit.instances or 1, source)
        states[number] = families[number].state()
    return Counter(f"{'different' if family.truth else 'equal'}: {family.result()}" for family in families)


def _make_up(number: int, source: random.Random) -> MadeUp:
    size = source.choice((-1, 1)) * 0.03 * (0.5 / 0.03) ** source.random()
    return MadeUp(size if number % 2 else 0.0, 0.005 * 20 ** source.random())
