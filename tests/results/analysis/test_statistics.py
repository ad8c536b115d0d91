"""Robust descriptions against worked examples and the properties that define them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xebench.results.analysis import statistics

times = st.lists(st.floats(1.0, 1e9), min_size=1, max_size=60)


def test_statistics_of_nothing() -> None:
    assert statistics.outliers([]) == 0
    assert statistics.autocorrelation([]) == 0


def test_outliers_are_those_of_iglewicz_and_hoaglin() -> None:
    # their example: the scores of 2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3 flag the last two
    values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3]
    assert statistics.outliers(values) == 2
    assert list(np.abs(statistics.modified_z_scores(values)) > statistics.OUTLIER_SCORE) == [False] * 8 + [True] * 2


def test_outliers_are_found_where_most_samples_are_equal() -> None:
    assert statistics.outliers([100.0] * 30 + [900.0]) == 1
    assert statistics.outliers([100.0] * 30) == 0


def test_autocorrelation_agrees_with_the_rank_correlation_of_neighbours() -> None:
    generator = np.random.default_rng(3)
    values = generator.normal(size=400)
    values[1:] += 0.8 * values[:-1]
    expected = stats.spearmanr(values[1:], values[:-1]).statistic
    assert statistics.autocorrelation(values) == pytest.approx(expected, abs=0.02)


def test_autocorrelation_of_short_independent_series_is_not_biased() -> None:
    generator = np.random.default_rng(5)
    found = [statistics.autocorrelation(generator.normal(size=15)) for _ in range(3000)]
    uncorrected_bias = 1 / 15
    assert abs(np.mean(found)) < uncorrected_bias / 3


def test_one_spike_does_not_hide_the_correlation_of_the_others() -> None:
    wave = np.sin(np.arange(60) / 6)
    spiked = wave.copy()
    spiked[30] = 1000
    assert statistics.autocorrelation(spiked) == pytest.approx(statistics.autocorrelation(wave), abs=0.1)


@given(times)
def test_correlation_never_adds_information(values: list[float]) -> None:
    assert statistics.variance_inflation(values) >= 1


def test_a_series_that_climbs_counts_as_few_samples() -> None:
    assert statistics.variance_inflation(np.arange(100.0)) > 10


@pytest.mark.parametrize("bad", [[[1.0, 2.0]], [1.0, math.nan], [math.inf]])
def test_a_series_must_be_flat_and_finite(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="one-dimensional and finite"):
        statistics.series(bad)
