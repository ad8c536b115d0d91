"""Intervals: their symmetries, their agreement with the bootstrap, and what they say when samples are few."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from tools.studies import intervals
from xebench.results.analysis.intervals import (
    MIN_SAMPLES,
    Interval,
    blurred,
    by_instance,
    drift,
    grouped_interval,
    independent_ratio,
    log_ratios,
    median_interval,
    speedup,
    typical_time,
)
from xebench.results.analysis.statistics import variance_inflation

positive = st.floats(1e-3, 1e9)
blocks = st.integers(1, 40).flatmap(
    lambda n: st.tuples(st.lists(positive, min_size=n, max_size=n), st.lists(positive, min_size=n, max_size=n))
)


def of_times(baseline: ArrayLike, variant: ArrayLike, instances: ArrayLike | None = None) -> Interval:
    return speedup(by_instance(log_ratios(baseline, variant), instances))


@given(blocks)
def test_swapping_the_sides_inverts_the_of_times(sides: tuple[list[float], list[float]]) -> None:
    there, back = of_times(*sides), of_times(*reversed(sides))
    assert back.estimate == pytest.approx(1 / there.estimate)
    if there.known:
        assert back.low == pytest.approx(1 / there.high)
        assert back.high == pytest.approx(1 / there.low)
    else:
        assert not back.known


@given(blocks, st.floats(1e-3, 1e3))
def test_the_unit_of_time_does_not_matter(sides: tuple[list[float], list[float]], factor: float) -> None:
    baseline, variant = map(np.array, sides)
    one, other = of_times(baseline, variant), of_times(baseline * factor, variant * factor)
    assert [other.estimate, other.low, other.high] == pytest.approx([one.estimate, one.low, one.high], nan_ok=True)


@given(blocks, st.floats(0.5, 2.0))
def test_a_faster_variant_moves_the_whole_interval(sides: tuple[list[float], list[float]], factor: float) -> None:
    baseline, variant = map(np.array, sides)
    one, other = of_times(baseline, variant), of_times(baseline, variant / factor)
    expected = [one.estimate * factor, one.low * factor, one.high * factor]
    assert [other.estimate, other.low, other.high] == pytest.approx(expected, nan_ok=True)


@given(blocks)
def test_load_that_hits_both_sides_of_a_block_cancels(sides: tuple[list[float], list[float]]) -> None:
    baseline, variant = map(np.array, sides)
    load = 1 + np.arange(baseline.size) % 7
    one, other = of_times(baseline, variant), of_times(baseline * load, variant * load)
    assert [other.estimate, other.low, other.high] == pytest.approx([one.estimate, one.low, one.high], nan_ok=True)


@given(st.lists(positive, min_size=1, max_size=80))
def test_an_interval_holds_its_median_and_stays_within_the_samples(values: list[float]) -> None:
    found = median_interval(values)
    assert found.estimate == np.median(values)
    assert found.n == len(values)
    assert found.known == (len(values) >= MIN_SAMPLES)
    if found.known:
        assert min(values) <= found.low <= found.estimate <= found.high <= max(values)


def test_few_samples_give_an_estimate_and_no_interval() -> None:
    found = of_times([2.0] * (MIN_SAMPLES - 1), [1.0] * (MIN_SAMPLES - 1))
    assert found.estimate == pytest.approx(2)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.half_width == math.inf


def test_no_samples_give_nothing() -> None:
    assert math.isnan(median_interval([]).estimate)
    assert math.isnan(independent_ratio([], [1.0]).estimate)
    assert math.isnan(drift([1.0]).estimate)


def test_interpolation_of_a_worked_example() -> None:
    # n = 20: the 6th and 15th order statistics cover 95.86 %, the 7th and 14th 88.47 %. Hettmansperger and Sheather:
    # I = (95.86 - 95) / (95.86 - 88.47) = 0.1164, weight = 14 I / (6 + 8 I) = 0.2352
    values = alternating(np.arange(1.0, 21.0))
    assert variance_inflation(values) == 1
    found = median_interval(values)
    assert [found.low, found.high] == pytest.approx([6.2352, 14.7648], abs=2e-4)


def alternating(values: np.ndarray) -> np.ndarray:
    """The same values in an order without positive autocorrelation: low, high, low, high."""
    half = values.size // 2
    return np.ravel(np.column_stack([values[:half], values[half:][::-1]]))


def test_agrees_with_the_bootstrap_where_blocks_are_many() -> None:
    generator = np.random.default_rng(11)
    baseline, variant = generator.lognormal(0.3, 0.02, 300), generator.lognormal(0, 0.02, 300)
    found = of_times(baseline, variant)
    low, high = intervals.median_of_ratios(np.log(baseline), np.log(variant), np.random.default_rng(1))
    assert math.log(found.low) == pytest.approx(low, abs=0.001)
    assert math.log(found.high) == pytest.approx(high, abs=0.001)
    low, high = intervals.ratio_of_medians(np.log(baseline), np.log(variant), np.random.default_rng(1))
    assert math.log(found.low) == pytest.approx(low, abs=0.003)
    assert math.log(found.high) == pytest.approx(high, abs=0.003)


@pytest.mark.parametrize("estimator", [intervals.ratio_of_medians, intervals.median_of_ratios, intervals.stationary])
def test_bootstraps_are_deterministic_with_a_seed(estimator) -> None:
    baseline, variant = np.random.default_rng(2).normal(0, 0.01, (2, 12))
    first, second = (estimator(baseline, variant, np.random.default_rng(7)) for _ in range(2))
    assert first == second
    assert first[0] < first[1]


def test_autocorrelated_ratios_get_a_wider_interval() -> None:
    generator = np.random.default_rng(4)
    independent = generator.normal(0, 0.01, 60)
    smooth = np.sort(independent)[np.argsort(np.argsort(np.sin(np.arange(60) / 5)))]
    assert sorted(smooth) == pytest.approx(sorted(independent))
    assert median_interval(smooth).half_width > 1.5 * median_interval(independent).half_width


@given(st.lists(positive, min_size=12, max_size=40), st.lists(positive, min_size=12, max_size=40))
def test_independent_ratio_inverts_when_swapped(before: list[float], after: list[float]) -> None:
    there, back = independent_ratio(before, after), independent_ratio(after, before)
    assert [back.estimate, back.low, back.high] == pytest.approx([1 / there.estimate, 1 / there.high, 1 / there.low])
    assert there.low <= there.estimate <= there.high


def test_drift_is_told_from_noise() -> None:
    noise = np.random.default_rng(6).lognormal(0, 0.01, 60)
    assert drift(noise).low < 1 < drift(noise).high
    moved = drift(noise * np.where(np.arange(60) < 30, 1.0, 1.1))
    assert moved.estimate == pytest.approx(1.1, rel=0.01)
    assert moved.low > 1


@pytest.mark.parametrize(
    ("baseline", "variant", "message"),
    [([1.0, 2.0], [1.0], "every block"), ([1.0, 0.0], [1.0, 1.0], "positive"), ([-1.0], [1.0], "positive")],
)
def test_sides_that_are_no_pair_are_refused(baseline: list[float], variant: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        log_ratios(baseline, variant)


def test_groups_are_compared_by_student_over_their_medians() -> None:
    groups = [[1.0] * 6, [2.0] * 7, [4.0] * 8]
    found = grouped_interval(groups)
    expected = stats.t.interval(0.95, 2, loc=7 / 3, scale=np.std([1, 2, 4], ddof=1) / 3**0.5)
    assert (found.estimate, found.low, found.high) == pytest.approx((7 / 3, *expected))
    assert (found.n, found.groups) == (21, 3)


def test_more_samples_of_one_group_say_nothing_of_the_next() -> None:
    source = np.random.default_rng(5)
    shifts = source.normal(0, 0.05, 6)
    few, many = ([source.normal(shift, 0.01, n) for shift in shifts] for n in (20, 2000))
    assert grouped_interval(many).half_width > 0.8 * grouped_interval(few).half_width
    assert median_interval(np.concatenate(many)).half_width < 0.2 * grouped_interval(many).half_width


def test_one_group_alone_has_the_interval_of_its_median() -> None:
    values = np.random.default_rng(6).normal(0, 1, 30)
    assert grouped_interval([values]) == median_interval(values)
    assert not grouped_interval([]).known
    assert not grouped_interval([[], []]).known


def test_a_group_that_was_cut_off_does_not_count() -> None:
    whole = [[1.0] * 10, [1.1] * 10]
    assert grouped_interval([*whole, [9.0, 9.0]]) == grouped_interval(whole)
    # where all are short, those count that are as long as the longest
    assert grouped_interval([[1.0] * 3, [2.0] * 3, [9.0]]).groups == 2


def test_the_speed_up_is_over_instances_where_there_are_several() -> None:
    baseline = np.array([2.0] * 6 + [4.0] * 6)
    found = of_times(baseline, np.ones(12), [0] * 6 + [3] * 6)
    assert found.estimate == pytest.approx(8**0.5)
    assert found.groups == 2
    assert of_times(baseline, np.ones(12), [0] * 12) == of_times(baseline, np.ones(12))


@pytest.mark.parametrize("between", [0.0, 0.01, 0.05])
def test_intervals_over_instances_cover_what_they_should(between: float) -> None:
    source = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        groups = [source.normal(source.normal(0, between), 0.02, 12) for _ in range(6)]
        found = grouped_interval(groups)
        covered += found.low <= 0 <= found.high
    # 95 % of 400, and three standard errors
    assert 0.915 <= covered / 400 <= 0.985


def test_an_error_of_its_own_is_squared_and_added() -> None:
    one = Interval(2.0, 2 / 1.03, 2 * 1.03, 20, 3)
    wider = blurred(one, 0.04)
    half = math.hypot(math.log(1.03), math.log(1.04))
    assert (wider.low, wider.high) == pytest.approx((2 * math.exp(-half), 2 * math.exp(half)))
    assert (wider.estimate, wider.n, wider.groups) == (2.0, 20, 3)
    same = blurred(one, 0.0)
    assert (same.low, same.high) == pytest.approx((one.low, one.high))
    assert not blurred(of_times([2.0], [1.0]), 0.1).known


def test_the_interval_of_a_time_is_over_instances() -> None:
    times, instances = [100.0] * 6 + [121.0] * 6, [0] * 6 + [1] * 6
    found, logarithms = typical_time(times, instances), grouped_interval([*np.log([times[:6], times[6:]])])
    assert found.estimate == np.median(times)
    assert (found.low, found.high) == pytest.approx((math.exp(logarithms.low), math.exp(logarithms.high)))
    assert typical_time(times) == median_interval(times)
    assert not typical_time([]).known


def test_drift_is_between_halves_of_the_instances() -> None:
    instances = np.repeat(np.arange(6), 10)
    values = np.random.default_rng(1).lognormal(0, 0.001, 60)
    moved = drift(values * np.where(instances < 3, 1.0, 1.1), instances)
    assert moved.estimate == pytest.approx(1.1, rel=0.01)
    assert moved.low > 1
    # one instance that differs from all others is no drift
    odd = drift(values * np.where(instances == 0, 1.2, 1.0), instances)
    assert odd.low < 1 < odd.high
    # of two or three it cannot be told whether they drift or differ
    assert not drift(values[:30], instances[:30]).known
    assert drift(values, [0] * 60) == drift(values)
