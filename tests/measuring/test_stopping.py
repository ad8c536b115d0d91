"""The stopping rule: precision of every pair, then the budget, then the most blocks."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from xebench.measuring.sampling import FIRST_BLOCKS, Sampling
from xebench.measuring.stopping import decide, log_speedups
from xebench.results.analysis.intervals import median_interval
from xebench.vocabulary import StopReason

LIMITS = Sampling(precision=0.01, budget_s=10, max_blocks=50)


def noise(spread: float, blocks: int = 40) -> np.ndarray:
    return np.random.default_rng(12).normal(0.1, spread, blocks)


def decided(*log_ratios: np.ndarray, elapsed_s: float = 1, limits: Sampling = LIMITS) -> str | None:
    """The rule's word on variants whose log speed-ups over a steady baseline are given."""
    values = {f"variant {number}": np.exp(-ratios).tolist() for number, ratios in enumerate(log_ratios)}
    return decide({"baseline": [1.0] * len(log_ratios[0]), **values}, elapsed_s, baseline="baseline", sampling=limits)


def test_stops_when_every_pair_is_known() -> None:
    assert decided(noise(0.005), noise(0.002)) == StopReason.PRECISION
    assert decided(noise(0.005), noise(0.2)) is None


def test_the_precision_is_the_half_width_of_the_log_interval() -> None:
    half_width = median_interval(noise(0.05)).half_width
    for precision, expected in [(half_width * 1.01, StopReason.PRECISION), (half_width * 0.99, None)]:
        limits = Sampling(precision=precision, budget_s=10, max_blocks=50)
        assert decided(noise(0.05), limits=limits) == expected


@pytest.mark.parametrize(
    ("blocks", "elapsed_s", "expected"),
    [(40, 9.9, None), (40, 10, "budget"), (50, 1, "max blocks"), (50, 10, "max blocks"), (2, 10, "budget")],
)
def test_stops_without_knowing(blocks: int, elapsed_s: float, expected: str | None) -> None:
    assert decided(noise(0.5, blocks), elapsed_s=elapsed_s) == expected


def test_does_not_stop_on_a_width_before_the_fewest_blocks() -> None:
    assert decided(np.zeros(FIRST_BLOCKS - 1)) is None
    assert decided(np.zeros(FIRST_BLOCKS)) == StopReason.PRECISION


def test_speedups_are_over_the_baseline_block_by_block() -> None:
    speedups = log_speedups({"base": [2.0, 4.0], "other": [1.0, 1.0]}, "base")
    assert list(speedups) == ["other"]
    assert np.allclose(np.exp(speedups["other"]), [2.0, 4.0])


def test_blocks_without_a_valid_sample_on_both_sides_are_left_out() -> None:
    values = {"base": [2.0, math.nan, 2.0, 0.0], "x": [1.0, 1.0, math.nan, 1.0], "y": [1.0, 1.0, 1.0, 1.0]}
    assert {name: len(ratios) for name, ratios in log_speedups(values, "base").items()} == {"x": 1, "y": 2}


def test_without_a_baseline_or_beside_it_the_times_themselves_decide() -> None:
    alone = log_speedups({"base": [math.e, math.nan, 1.0]}, "base")
    assert {name: list(times) for name, times in alone.items()} == {"base": pytest.approx([1.0, 0.0])}
    both = log_speedups({"x": [1.0], "y": [1.0, 2.0]}, "base")
    assert {name: len(times) for name, times in both.items()} == {"x": 1, "y": 2}


def test_what_a_claim_compares_beside_the_baseline_is_a_series_too() -> None:
    values = {"base": [8.0, 8.0], "few": [4.0, math.nan], "many": [1.0, 2.0]}
    speedups = log_speedups(values, "base", [("many", "few"), ("many", "gone")])
    assert {name: list(np.exp(ratios)) for name, ratios in speedups.items()} == {
        "few": pytest.approx([2.0]),
        "many": pytest.approx([8.0, 4.0]),
        "many/few": pytest.approx([4.0]),
    }
    beside = log_speedups({"few": [4.0], "many": [1.0]}, "base", [("many", "few")])
    assert list(beside) == ["many/few"], "they are compared where the baseline has failed, too"


def test_blocks_without_valid_samples_do_not_make_a_pair_known() -> None:
    rule = partial(
        decide,
        baseline="base",
        sampling=Sampling(precision=0.01, budget_s=5, min_blocks=6, first_blocks=6, max_blocks=50),
    )
    same, noisy = [1.0] * 20, np.random.default_rng(1).uniform(1, 2, 20).tolist()
    assert rule({"base": same, "other": same}, 1.0) == StopReason.PRECISION
    assert rule({"base": same, "other": noisy}, 1.0) is None
    assert rule({"base": same, "other": noisy}, 6.0) == StopReason.BUDGET
    assert rule({"base": same, "other": [math.nan] * 20}, 1.0) is None
    assert rule({"base": [math.nan] * 50, "other": [math.nan] * 50}, 1.0) == StopReason.MAX_BLOCKS
