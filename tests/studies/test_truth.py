"""The true ratio, and the schedule of pairs."""

from __future__ import annotations

import itertools
from collections import Counter
from itertools import groupby

import pytest

from tools.studies.noise.known_pairs import (
    ALONE_OF,
    CONDITIONS,
    PAIRS_OF,
    Calibration,
    KnownPair,
    LengthLine,
    fit_line,
    repetition_pairs,
)
from xebench.results.analysis.intervals import Interval


def pair(excess: float, answer: str) -> KnownPair:
    return KnownPair(0, "quiet", excess, answer, False, 0)


def test_a_line_is_found_and_its_distance() -> None:
    lengths = [0.25, 0.5, 1.0, 1.2]
    line = fit_line(lengths, [10 + 90 * x for x in lengths], 400)
    assert line.fixed_share == pytest.approx(0.1)
    assert line.residual == pytest.approx(0, abs=1e-9)
    bent = fit_line(lengths, [10 + 90 * x + (5 if x == 1 else 0) for x in lengths], 400)
    assert 0.01 < bent.residual < 0.05


def test_fixed_time_makes_the_true_ratio_smaller_than_that_of_the_trips() -> None:
    line = LengthLine(trips=1000, fixed_share=0.5, residual=0)
    assert line.ratio(0.2) == pytest.approx(1.1)
    assert line.true_speedup(pair(0.2, "faster")) == pytest.approx(1.1)
    assert line.true_speedup(pair(0.2, "slower")) == pytest.approx(1 / 1.1)
    assert line.true_speedup(pair(0.0, "same")) == 1


def test_trip_counts_are_whole() -> None:
    assert LengthLine(trips=10, fixed_share=0, residual=0).ratio(0.02) == 1


@pytest.mark.parametrize(
    ("residual", "low", "high", "usable"),
    [(0.001, 0.99, 1.01, True), (0.05, 0.99, 1.01, False), (0.0, 1.01, 1.02, False)],
)
def test_a_calibration_is_usable_when_the_line_is_straight_and_the_kernels_alike(
    residual: float, low: float, high: float, usable: bool
) -> None:
    kernels = Interval((low + high) / 2, low, high, 50)
    assert Calibration(LengthLine(1000, 0.05, residual), 5e5, kernels, [], []).usable is usable


def test_a_repetition_has_every_pair_in_both_conditions() -> None:
    pairs = list(repetition_pairs(3, seed=1))
    assert len(pairs) == len(CONDITIONS) * (sum(PAIRS_OF.values()) + sum(ALONE_OF.values()))
    for condition, alone, counts in itertools.product(CONDITIONS, (False, True), (PAIRS_OF, ALONE_OF)):
        if alone is (counts is ALONE_OF):
            own = [one for one in pairs if one.condition == condition and one.alone is alone]
            assert Counter(one.excess for one in own) == counts
    # the load is started once
    assert len(list(groupby(pairs, lambda one: one.condition))) == len(CONDITIONS)
    assert all((one.answer == "same") == (one.excess == 0) for one in pairs)


def test_repetitions_differ_and_can_be_repeated() -> None:
    assert list(repetition_pairs(0, seed=1)) == list(repetition_pairs(0, seed=1))
    many = [one for repetition in range(40) for one in repetition_pairs(repetition, seed=1)]
    assert {one.answer for one in many if one.excess} == {"faster", "slower"}
    assert {one.swapped for one in many} == {True, False}
    assert {next(repetition_pairs(repetition, seed=1)).condition for repetition in range(40)} == set(CONDITIONS)
