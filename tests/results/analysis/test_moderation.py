"""What all pairs of a run say of how much instances differ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from synthetic import Synthetic

from xebench.results.analysis.intervals import Interval, grouped_interval
from xebench.results.analysis.moderation import LEAST_SPREAD, MOST_FREEDOM, NOTHING, Prior, moderate, prior_of

SOURCE = np.random.default_rng(7)


def medians(spreads: Sequence[float], instances: int = 3) -> list[list[float]]:
    """Of each pair the medians of its instances, which differ by a standard deviation of its own."""
    return [SOURCE.normal(0, spread, instances).tolist() for spread in spreads]


def test_pairs_that_are_alike_know_much_together() -> None:
    prior = prior_of(medians([0.003] * 400))
    assert prior.freedom >= 5
    assert math.sqrt(prior.variance) == pytest.approx(0.003, rel=0.2)


def test_pairs_that_are_not_alike_know_little() -> None:
    spreads = np.exp(SOURCE.normal(math.log(0.01), 1.5, 400))
    assert prior_of(medians(list(spreads))).freedom < 1.5


def test_few_pairs_and_pairs_of_one_instance_know_nothing() -> None:
    assert prior_of(medians([0.003] * 9)) == NOTHING
    assert prior_of([[0.1]] * 50) == NOTHING


def test_pairs_without_any_difference_are_not_believed_to_have_none() -> None:
    prior = prior_of([[0.0, 0.0]] * 50)
    assert prior.freedom == MOST_FREEDOM
    assert prior.variance >= LEAST_SPREAD**2


def test_an_interval_of_few_instances_draws_on_the_others() -> None:
    alone = grouped_interval([[0.0], [0.004]])
    together = moderate(alone, Prior(0.003**2, 5.0))
    assert together.estimate == alone.estimate
    assert together.half_width < alone.half_width / 3
    lucky = grouped_interval([[0.0], [0.00001]])
    assert moderate(lucky, Prior(0.003**2, 5.0)).half_width > 10 * lucky.half_width


def test_what_differs_more_than_the_others_stays_wide() -> None:
    assert moderate(grouped_interval([[0.0], [0.1], [0.2]]), Prior(0.003**2, 1.0)).half_width > 0.05


@pytest.mark.parametrize("instances", [1, 6, 9])
def test_one_instance_and_enough_of_them_stand_alone(instances: int) -> None:
    own = grouped_interval([[0.1 * number] * 10 for number in range(instances)])
    assert moderate(own, Prior(1.0, 5.0)) == own


def test_moderated_intervals_hold_the_truth() -> None:
    """Of pairs that differ as a scaled inverse chi squared says, three instances each."""
    spreads = 0.004 / np.sqrt(SOURCE.chisquare(4, 2000) / 4)
    known = medians(list(spreads))
    prior = prior_of(known)
    held = [abs(found.estimate) < found.half_width for found in (moderate(_of(one), prior) for one in known)]
    assert 0.93 < np.mean(held) < 0.99


def _of(values: Sequence[float]) -> Interval:
    return grouped_interval([[value] for value in values])


def test_the_table_of_pairs_draws_on_all_of_them_where_precision_ended_the_sampling() -> None:
    def widths(stopped_by: str) -> float:
        made, source = Synthetic(), np.random.default_rng(3)
        for number in range(20):
            parameters = f'{{"pair": {number}}}'
            shifts = np.repeat(source.normal(0, 0.002, 3), 10)
            for variant, role, shift in (("a", "naive", 0 * shifts), ("b", "optimized", shifts)):
                case_id = made.case(variant, role, parameters=parameters, stopped_by=stopped_by)
                made.times(case_id, 1e6 * np.exp(shift), instances=np.repeat([0, 1, 2], 10).tolist())
        found = made.run().pairs
        return float((found["speedup_high"] - found["speedup_low"]).max())

    assert widths("precision") < widths("budget") / 1.5
