"""Disturbed instances count less, and the interval still holds the ratio."""

from __future__ import annotations

import numpy as np
import pytest

from xebench.results.analysis.intervals import grouped_interval, student_factor
from xebench.results.analysis.versions import weighted_interval

Groups = list[np.ndarray]


def groups(source: np.random.Generator, between: float = 0.0, disturbed: float = 0.0) -> Groups:
    """Ten instances of log ratios around 0; in a disturbed one two of three blocks are far off."""
    made = []
    for _ in range(10):
        is_disturbed = source.random() < disturbed
        size = int(source.integers(6, 15) if is_disturbed else source.integers(10, 50))
        blocks = source.normal(source.normal(0, between), 0.005, size)
        hit = source.random(size) < (0.65 if is_disturbed else 0.15)
        made.append(blocks + hit * 0.3 * source.standard_t(2, size))
    return made


def test_where_instances_differ_by_more_than_their_errors_it_is_students_interval() -> None:
    made = groups(np.random.default_rng(1), between=0.1)
    weighted, plain = weighted_interval(made), grouped_interval(made)
    assert weighted.estimate == pytest.approx(plain.estimate, abs=0.005)
    assert weighted.half_width == pytest.approx(plain.half_width, rel=0.05)
    assert (weighted.n, weighted.groups) == (plain.n, 10)


def test_a_disturbed_instance_does_not_widen_it() -> None:
    source = np.random.default_rng(2)
    made = [source.normal(-0.03, 0.004, 30) for _ in range(9)]
    worse = [*made, source.normal(0.4, 0.5, 8)]
    without, plain, weighted = grouped_interval(made), grouped_interval(worse), weighted_interval(worse)
    assert plain.half_width > 20 * without.half_width, "what it is about"
    assert weighted.half_width < 3 * without.half_width
    assert weighted.low < -0.03 < weighted.high < 0


@pytest.mark.parametrize(("between", "disturbed"), [(0.0, 0.0), (0.02, 0.0), (0.0, 0.25), (0.01, 0.25)])
def test_the_interval_holds_the_ratio_as_often_as_it_says(between: float, disturbed: float) -> None:
    source = np.random.default_rng(3)
    found = [weighted_interval(groups(source, between, disturbed)) for _ in range(300)]
    missed = sum(not one.low <= 0 <= one.high for one in found)
    assert missed <= 0.08 * 300


def test_more_confidence_is_a_wider_interval() -> None:
    made = groups(np.random.default_rng(4))
    assert weighted_interval(made, 0.999).half_width > 1.5 * weighted_interval(made).half_width


def test_of_few_instances_that_say_how_sure_they_are_there_is_none() -> None:
    made = groups(np.random.default_rng(5))
    few = [*made[:5], *(group[:4] for group in made[5:])]
    assert not weighted_interval(few).known and weighted_interval(few).groups == 10
    assert weighted_interval([*few, made[5]]).groups == 6


def test_times_of_a_coarse_clock_have_an_interval() -> None:
    assert weighted_interval([np.zeros(8)] * 6).half_width == 0
    one_off = [*[np.zeros(8)] * 6, np.full(8, 0.07)]
    expected = student_factor(6) * 0.01  # mean of seven, one of which is 0.07: standard error 0.01
    assert weighted_interval(one_off).half_width == pytest.approx(expected, rel=0.01)
