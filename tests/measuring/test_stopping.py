"""Log speed-ups of blocks, by which sampling stops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from instances_kit import RoundRule

from xebench.measuring.sampling import Sampling
from xebench.results.analysis.speedups import log_speedups
from xebench.vocabulary import StopReason


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
    limits = Sampling(precision=0.01, budget_s=5, min_blocks=6, first_blocks=6, max_blocks=50, min_instances=1)
    same, noisy = [1.0] * 20, np.random.default_rng(1).uniform(1, 2, 20).tolist()

    def decided(base: list[float], other: list[float]) -> str | None:
        return RoundRule(limits, "base").decide({"base": base, "other": other}, 1.0)

    assert decided(same, same) == StopReason.PRECISION
    assert decided(same, noisy) is None
    assert decided(same, [math.nan] * 20) is None
    assert decided([math.nan] * 50, [math.nan] * 50) == StopReason.MAX_BLOCKS
