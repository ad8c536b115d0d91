"""Which family has the next round, and for how long: no device, no clock."""

from __future__ import annotations

import math
from typing import Any

import pytest

from xebench.measuring.sampling import Sampling
from xebench.runner.round_plan import FamilyState, PairState, Round, RoundPlan, earlier_round, half_width_after

NEW, OVER = FamilyState(), FamilyState(1, over=True, beside_s=1.0)


def plan(budget_s: float | None = None, **sampling: object) -> RoundPlan:
    return RoundPlan(Sampling(**{"few_instances": 3, **sampling}), 6.0, budget_s)  # type: ignore[arg-type]


def after(*pairs: PairState, rounds: int = 1, beside_s: float = 1.0, instance_s: float = 0.5) -> FamilyState:
    return FamilyState(rounds, beside_s=beside_s, instance_s=instance_s, pairs=pairs)


def undecided(half_width: float, wanted: float, instances: int = 3) -> PairState:
    return PairState(half_width, instances, wanted)


def chosen(plan: RoundPlan, *families: FamilyState, left_s: float = 100.0) -> tuple[int, Round]:
    found = plan.next(families, left_s)
    assert found is not None
    return found


def test_without_a_budget_families_have_their_turns_with_equal_parts_of_what_is_theirs() -> None:
    turns = plan()
    states = [FamilyState(rest_s=9.0), FamilyState(rest_s=9.0)]
    order = []
    about_3_s: Any = pytest.approx(3.0)
    while (found := turns.next(states)) is not None:
        number, planned = found
        assert planned == Round(states[number].rounds, about_3_s, 2)
        order.append(number)
        states[number] = FamilyState(planned.number + 1, over=planned.number == 2, rest_s=6.0 - 3.0 * planned.number)
    assert order == [0, 1, 0, 1, 0, 1]


def test_without_a_budget_what_a_round_leaves_is_for_the_later_ones() -> None:
    _, planned = chosen(plan(), FamilyState(1, rest_s=7.0))
    assert planned.sampling_s == 3.5


def test_a_family_that_an_earlier_session_left_open_has_a_last_round() -> None:
    assert plan(min_instances=1).next([FamilyState(1, rest_s=0.4)]) == (0, Round(1, 0.4, 1))
    assert plan().next([FamilyState(3, rest_s=0.4)]) is None
    numbers = [earlier_round(Sampling(min_instances=6), taken).number for taken in (1, 2, 3, 4, 9)]
    assert numbers == [0, 0, 0, 1, 1]


def test_every_family_has_a_round_before_any_has_another() -> None:
    wide = after(undecided(1.0, 0.1))
    number, planned = chosen(plan(540.0), wide, NEW, NEW)
    assert (number, planned.number) == (1, 0)


@pytest.mark.parametrize(("count", "budget_s"), [(34, 60.0), (34, 540.0), (120, 540.0), (10, 3600.0)])
@pytest.mark.parametrize("beside_s", [0.3, 1.2])
def test_the_first_round_fits_into_the_budget(count: int, budget_s: float, beside_s: float) -> None:
    families, left_s, rounds = [NEW] * count, budget_s, plan(budget_s)
    for number in range(count):
        found, planned = chosen(rounds, *families, left_s=left_s)
        assert found == number and planned.sampling_s <= 2.0
        left_s -= planned.sampling_s + beside_s
        families[number] = after(undecided(1.0, 0.1), beside_s=beside_s)
    assert left_s >= 0


def test_a_first_round_takes_enough_instances_for_an_answer() -> None:
    _, short = chosen(plan(60.0), *[NEW] * 40, left_s=60.0)
    _, useful = chosen(plan(60.0), *[NEW] * 25, left_s=60.0)
    _, long = chosen(plan(60.0), NEW, left_s=60.0)
    assert (short.instances, useful.instances, long.instances) == (3, 3, 3)
    assert (short.sampling_s, useful.sampling_s, long.sampling_s) == (0.3, 0.9, 2.0)
    _, both = chosen(plan(60.0, states=("hot", "cold")), *[NEW] * 25, left_s=60.0)
    assert both.sampling_s >= 0.6, "each state has its instances"


def test_first_rounds_are_short_where_not_all_can_be_useful_and_later_ones_have_the_rest() -> None:
    dear = after(undecided(1.0, 0.1), beside_s=2.0)
    _, first = chosen(plan(490.0), dear, *[NEW] * 188, left_s=487.0)
    assert (first.sampling_s, first.instances) == (0.3, 3), "2.6 s each would be there, and no later round"
    _, first = chosen(plan(600.0), dear, *[NEW] * 188, left_s=597.0)
    assert (first.sampling_s, first.instances) == (0.9, 3)


def test_a_first_round_may_wait_for_an_interval_as_long_as_the_others_have_theirs() -> None:
    _, planned = chosen(plan(60.0), *[NEW] * 30, left_s=60.0)
    assert planned.longest_s == pytest.approx(3 * planned.sampling_s)
    _, planned = chosen(plan(60.0), *[NEW] * 30, left_s=40.5)
    assert planned.sampling_s == pytest.approx(0.35)
    assert planned.longest_s == pytest.approx(3 * 0.35)
    _, planned = chosen(plan(60.0), *[NEW] * 30, left_s=39.3)
    assert planned.longest_s == pytest.approx(0.6), "all that leaves 29 others 1.3 s each"
    assert chosen(plan(), NEW)[1].longest_s == 0.0, "a run without a budget keeps to the family's own"


def test_a_family_gets_no_more_than_its_own_budget() -> None:
    _, first = chosen(plan(60.0), FamilyState(rest_s=0.4), left_s=60.0)
    assert first.sampling_s == 0.4
    _, later = chosen(plan(60.0), FamilyState(1, rest_s=0.4, beside_s=0.1, instance_s=1.0, pairs=[PairState(1, 3)]))
    assert later.sampling_s == 0.4


def test_what_can_be_decided_goes_before_what_is_merely_wide_and_cheap_before_dear() -> None:
    merely_wide, dear, cheap = after(PairState(0.9, 3)), undecided(0.5, 0.05), undecided(0.06, 0.05)
    families = [merely_wide, after(dear), after(cheap)]
    rounds = plan(540.0)
    assert chosen(rounds, *families)[0] == 2
    assert chosen(rounds, *families[:2])[0] == 1
    assert chosen(rounds, merely_wide, OVER)[0] == 0


def test_a_family_goes_first_where_a_second_decides_more_claims() -> None:
    one = after(undecided(0.11, 0.1), instance_s=1.0)
    eight = after(*[undecided(0.11, 0.1)] * 8, instance_s=5.0)
    assert chosen(plan(60.0), one, eight)[0] == 1
    beyond = after(undecided(0.11, 0.1), *[undecided(3.0, 0.01)] * 8, instance_s=2.0)
    assert chosen(plan(60.0), one, beyond, left_s=20.0)[0] == 0


def test_a_claim_that_the_time_cannot_decide_waits_with_the_wide_ones() -> None:
    hopeless = after(undecided(0.02, 0.001, instances=30), rounds=9)
    assert chosen(plan(540.0), after(PairState(0.3, 3)), hopeless, left_s=60.0)[0] == 0
    assert chosen(plan(540.0), OVER, hopeless, left_s=60.0)[0] == 1


def test_of_wide_intervals_the_one_that_a_second_narrows_most_goes_first() -> None:
    rounds = plan(540.0)
    assert chosen(rounds, after(PairState(0.1, 3)), after(PairState(0.4, 3)))[0] == 1
    slow = after(PairState(0.4, 3), instance_s=9.0)
    assert chosen(rounds, after(PairState(0.2, 3)), slow)[0] == 0


def test_what_never_gives_an_interval_makes_room() -> None:
    never = after(undecided(math.inf, 0.1, instances=1), rounds=8)
    assert chosen(plan(540.0), never, after(undecided(0.2, 0.1)))[0] == 1
    once = after(undecided(math.inf, 0.1, instances=1))
    assert chosen(plan(540.0), once, after(undecided(0.5, 0.1)))[0] == 0


def test_instances_grow_by_a_part_and_fit_into_the_time() -> None:
    rounds = plan(540.0)
    assert [chosen(rounds, after(PairState(0.4, known)))[1].instances for known in (1, 3, 6, 40)] == [2, 2, 3, 6]
    _, short = chosen(rounds, after(PairState(0.4, 6)), left_s=2.1)
    assert (short.instances, short.sampling_s) == (2, 1.0)
    assert rounds.next([after(PairState(0.4, 6))], left_s=1.4) is None, "no round begins that cannot come to its end"


def test_it_ends_when_all_is_known_or_the_time_is_over() -> None:
    assert plan(60.0).next([OVER], 50.0) is None
    assert plan(60.0).next([NEW], 0.0) is None
    assert plan().next([OVER]) is None


def test_how_much_is_to_come() -> None:
    assert plan().to_come([NEW, FamilyState(2), OVER]) == 4
    assert plan().seconds_to_come([NEW], math.inf, 0.0) is None
    assert plan().seconds_to_come([NEW, after(), OVER], math.inf, 8.0) == pytest.approx(4.0 * 5)
    assert plan(60.0).to_come([OVER], 50.0) == 0
    assert plan(60.0).to_come([NEW] * 99, 50.0) == 99
    assert plan(60.0).seconds_to_come([NEW], 50.0, 3.0) == 50.0


def test_more_instances_narrow_an_interval_as_students_does() -> None:
    assert half_width_after(PairState(1.0, 3), 3) == pytest.approx(2.571 / 4.303 / math.sqrt(2), rel=1e-3)
    assert half_width_after(PairState(1.0, 1), 3) == 0.5


def test_a_claim_with_one_instance_is_tried_and_the_less_the_more_rounds_it_had() -> None:
    one = undecided(0.9, 0.1, instances=1)
    wide, dear = after(PairState(0.9, 3)), after(undecided(0.5, 0.1))
    assert chosen(plan(540.0), after(one), wide, dear)[0] == 0
    assert chosen(plan(540.0), after(one, rounds=9), wide, dear)[0] == 2
    assert chosen(plan(540.0), after(PairState(0.01, 3)), after(PairState(0.9, 1)))[0] == 1
