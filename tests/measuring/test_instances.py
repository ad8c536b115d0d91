"""When to leave an instance of a family, and when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from instances_kit import RoundRule

from xebench.measuring.sampling import Sampling
from xebench.measuring.stopping import NEXT_INSTANCE
from xebench.results.analysis.moderation import NOTHING, Prior
from xebench.vocabulary import StopReason

SAMPLING = Sampling(precision=0.01, budget_s=60.0, min_blocks=10, first_blocks=10, max_blocks=600, min_instances=6)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def values(ratio: float, blocks: int, spread: float = 0.0, seed: int = 1) -> dict[str, Sequence[float]]:
    noise = np.random.default_rng(seed).normal(1, spread, blocks)
    return {"base": list(ratio * noise), "other": [1.0] * blocks}


def instances(sampling: Sampling = SAMPLING) -> tuple[RoundRule, Clock]:
    clock = Clock()
    return RoundRule(sampling, "base", clock=clock), clock


def test_an_instance_that_is_known_is_left_and_six_that_agree_are_enough() -> None:
    rule, _ = instances()
    reasons = [rule.decide(values(2.0, 10), 0.1) for _ in range(6)]
    assert reasons == [NEXT_INSTANCE] * 5 + ["precision"]


def test_instances_that_differ_need_more_of_them() -> None:
    rule, _ = instances()
    reasons = [rule.decide(values(2.0 * (1 + 0.05 * (-1) ** number), 10), 0.1) for number in range(20)]
    assert set(reasons) == {NEXT_INSTANCE}


def test_the_first_instance_makes_an_interval_before_another_one_begins() -> None:
    slow = Sampling(precision=0.01, budget_s=6.0, min_instances=6, longest_s=18.0)
    rule, clock = instances(slow)
    assert rule.decide(values(2.0, 5), 2.0) is None
    assert rule.decide(values(2.0, 6), 2.4) == NEXT_INSTANCE
    assert rule.decide(values(2.0, 3), 1.2) == NEXT_INSTANCE
    rule, clock = instances(slow)
    clock.now = 6.0
    assert rule.decide(values(2.0, 5), 6.0) is None
    assert rule.decide(values(2.0, 6), 7.0) == NEXT_INSTANCE, "the round's other five have time"
    rule, clock = instances(slow)
    clock.now = 14.0
    assert rule.decide(values(2.0, 6), 14.0) == "budget", "they have not"
    rule, clock = instances(slow)
    clock.now = 18.0
    assert rule.decide(values(2.0, 2), 18.0) == "budget", "its time is over all the same"
    rule, clock = instances(replace(slow, longest_s=0.0))
    clock.now = 1.0
    assert rule.decide(values(2.0, 2), 1.0) == NEXT_INSTANCE, "nobody waits for an interval"
    rule = RoundRule(slow, "base", [{"other": [0.5] * 6}])
    assert rule.decide(values(2.0, 2), 1.0) == NEXT_INSTANCE, "an earlier round has one"


def test_fewer_blocks_than_the_fewest_decide_nothing() -> None:
    rule, _ = instances()
    assert rule.decide(values(2.0, 9), 0.1) is None


def test_a_noisy_instance_is_left_after_its_share_of_time_or_blocks() -> None:
    rule, _ = instances()
    assert rule.decide(values(2.0, 20, spread=0.5), 9.9) is None
    assert rule.decide(values(2.0, 20, spread=0.5), 10.0) == NEXT_INSTANCE
    assert rule.decide(values(2.0, 100, spread=0.5), 0.1) == NEXT_INSTANCE


def test_where_instances_differ_each_of_them_is_left_sooner() -> None:
    def noisy(shift: float, seed: int) -> dict[str, Sequence[float]]:
        return values(2.0 * shift, 30, spread=0.1, seed=seed)

    agreeing, _ = instances()
    differing, _ = instances()
    for number in range(4):
        # both are left for their time
        assert agreeing.decide(noisy(1.0, number), 10.0) == NEXT_INSTANCE
        assert differing.decide(noisy(1 + 0.3 * (-1) ** number, number), 10.0) == NEXT_INSTANCE
    assert agreeing.decide(noisy(1.0, 9), 1.0) is None
    assert differing.decide(noisy(1.0, 9), 1.0) == NEXT_INSTANCE


def test_the_budget_and_the_most_blocks_are_of_all_instances() -> None:
    rule, clock = instances()
    assert rule.decide(values(2.0, 100, spread=0.5), 0.1) == NEXT_INSTANCE
    clock.now = 59.9
    assert rule.decide(values(2.0, 5, spread=0.5), 1.0) is None
    clock.now = 60.0
    assert rule.decide(values(2.0, 5, spread=0.5), 1.0) == "budget"
    rule, _ = instances()
    reasons = [rule.decide(values(2.0, 100, spread=0.5, seed=seed), 0.1) for seed in range(6)]
    assert reasons == [NEXT_INSTANCE] * 5 + ["max blocks"]


def test_a_single_instance_is_never_renewed() -> None:
    rule, clock = instances(
        Sampling(precision=0.01, budget_s=1.0, min_blocks=6, first_blocks=6, max_blocks=50, min_instances=1)
    )
    assert rule.decide(values(2.0, 40, spread=0.5), 0.5) is None
    assert rule.decide(values(2.0, 6), 0.5) == "precision"
    clock.now = 1.0
    assert rule.decide(values(2.0, 40, spread=0.5), 1.0) == "budget"


def test_a_variant_that_dropped_out_is_forgotten() -> None:
    rule, _ = instances()
    for _ in range(5):
        both = values(2.0, 10) | {"fails": [1.0 + 0.1 * n for n in range(10)]}
        rule.decide(both, 20.0)
    assert rule.decide(values(2.0, 10), 0.1) == "precision"


@pytest.mark.parametrize("most", [3, 8, 1000])
def test_shares_leave_room_for_all_instances(most: int) -> None:
    rule, _ = instances(Sampling(max_blocks=most, min_blocks=10, first_blocks=10, min_instances=6))
    assert 1 <= rule.share.min_blocks <= max(10, rule.share.max_blocks)
    assert rule.share.max_blocks == max(1, most // 6)


def test_a_round_ends_after_its_part_and_the_last_one_knows_all() -> None:
    sampling = Sampling(
        precision=0.01, budget_s=60.0, min_blocks=10, first_blocks=10, max_blocks=600, min_instances=6, instances=2
    )
    earlier: list[dict[str, list[float]]] = []
    for number in range(3):
        rule = RoundRule(sampling, "base", earlier, clock=Clock(), last=number == 2)
        reasons = [rule.decide(values(2.0, 10), 0.1) for _ in range(2)]
        assert reasons == [NEXT_INSTANCE, "precision" if number == 2 else StopReason.ROUND]
        earlier += rule.taken
    assert len(earlier) == 6
    assert set(earlier[0]) == {"other"}


def test_the_last_round_goes_on_where_the_rounds_differ() -> None:
    sampling = Sampling(
        precision=0.01, budget_s=60.0, min_blocks=10, first_blocks=10, max_blocks=600, min_instances=6, instances=2
    )
    earlier = [{"other": [0.0] * 10}, {"other": [0.1] * 10}] * 2
    rule = RoundRule(sampling, "base", earlier, clock=Clock())
    assert [rule.decide(values(1.0, 10), 0.1) for _ in range(10)] == [NEXT_INSTANCE] * 10


def blocks_taken(sampling: Sampling) -> list[int]:
    """Blocks of each instance, where no instance is ever known, as the sampler would take them."""
    rule, _ = instances(sampling)
    taken, reason = [], NEXT_INSTANCE
    while reason == NEXT_INSTANCE:
        taken.append(rule.share.max_blocks)
        reason = str(rule.decide(values(2.0, taken[-1], spread=0.5, seed=len(taken)), 0.1))
    assert reason == "max blocks"
    return taken


@pytest.mark.parametrize(
    ("most", "fewest", "expected"),
    [(600, 6, [100] * 6), (1000, 6, [166] * 6), (333, 2, [166] * 2), (6, 20, [1] * 6), (59, 4, [14, 14, 14, 14])],
)
def test_no_block_begins_beyond_the_most(most: int, fewest: int, expected: list[int]) -> None:
    assert blocks_taken(Sampling(precision=1e-9, budget_s=60.0, max_blocks=most, min_instances=fewest)) == expected


def test_the_last_instance_has_what_is_left() -> None:
    rule, _ = instances(
        Sampling(precision=0.01, budget_s=60.0, min_blocks=10, first_blocks=10, max_blocks=75, min_instances=3)
    )
    assert rule.share.max_blocks == 25
    assert rule.decide(values(2.0, 25, spread=0.5), 0.1) == NEXT_INSTANCE
    assert [rule.decide(values(2.0 * (1 + number), 10), 0.1) for number in range(3)] == [NEXT_INSTANCE] * 3
    assert (rule.share.max_blocks, rule.share.min_blocks) == (20, 10)
    assert rule.decide(values(2.0, 11), 0.1) == "max blocks", "nine blocks would be an instance like the others"


def differing(*shifts: float) -> list[dict[str, list[float]]]:
    """Instances of earlier rounds, by their log speed-ups."""
    return [{"other": [shift] * 10} for shift in shifts]


def in_second_round(earlier: list[dict[str, list[float]]], prior: Prior, few: int = 3) -> str | None:
    sampling = Sampling(
        precision=0.01, budget_s=60.0, first_blocks=0, max_blocks=600, min_instances=6, few_instances=few, instances=2
    )
    rule = RoundRule(sampling, "base", earlier, clock=Clock(), last=False, prior=prior)
    return rule.decide(values(1.0, 10), 0.1)


QUIET = Prior(0.001**2, 2.0)


def test_three_instances_are_enough_where_the_runs_pairs_hardly_differ() -> None:
    assert in_second_round(differing(0.0, 0.001), QUIET) == "precision"
    assert in_second_round(differing(0.001), QUIET) == NEXT_INSTANCE, "two are not"


def test_what_differs_itself_goes_on_whatever_the_others_do() -> None:
    assert in_second_round(differing(0.0, 0.05), QUIET) == NEXT_INSTANCE


def test_without_other_pairs_or_by_the_users_word_no_instance_is_saved() -> None:
    assert in_second_round(differing(0.0, 0.0), NOTHING) == NEXT_INSTANCE
    assert in_second_round(differing(0.0, 0.0), QUIET, few=6) == NEXT_INSTANCE


def test_luck_is_not_taken_for_agreement_where_the_others_differ() -> None:
    assert in_second_round(differing(0.0, 0.0), Prior(0.02**2, 2.0)) == NEXT_INSTANCE


def test_an_instance_that_takes_long_stays_alone() -> None:
    def ends(instance_s: float) -> list[str | None]:
        rule, clock = instances(replace(SAMPLING, budget_s=0.4, min_blocks=6, first_blocks=6, alone_s=0.05))
        found: list[str | None] = []
        while not found or found[-1] == NEXT_INSTANCE:
            clock.now += instance_s
            found.append(rule.decide(values(2.0, 6), instance_s))
        return found

    assert ends(0.03) == [NEXT_INSTANCE] * 5 + ["precision"]
    assert ends(0.06) == ["budget"]


def test_an_instance_alone_takes_its_least_blocks_within_the_budget() -> None:
    rule, clock = instances(replace(SAMPLING, budget_s=0.4, min_blocks=6, first_blocks=6, alone_s=0.05))
    clock.now = 0.3
    assert rule.decide(values(2.0, 3), 0.3) is None
    clock.now = 0.4
    assert rule.decide(values(2.0, 4), 0.4) == "budget"
