"""From samples to the stopping rule."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.runner.deciding import log_speedups, stopping_rule
from harness.runner.sampler import Sampling


def test_speedups_are_over_the_baseline_block_by_block() -> None:
    found = log_speedups({"base": [2.0, 4.0], "other": [1.0, 1.0]}, "base")
    assert list(found) == ["other"]
    assert np.allclose(np.exp(found["other"]), [2.0, 4.0])


def test_blocks_without_a_valid_sample_on_both_sides_are_left_out() -> None:
    values = {"base": [2.0, math.nan, 2.0, 0.0], "x": [1.0, 1.0, math.nan, 1.0], "y": [1.0, 1.0, 1.0, 1.0]}
    assert {name: len(one) for name, one in log_speedups(values, "base").items()} == {"x": 1, "y": 2}


def test_without_a_baseline_or_beside_it_the_times_themselves_decide() -> None:
    alone = log_speedups({"base": [math.e, math.nan, 1.0]}, "base")
    assert {name: list(one) for name, one in alone.items()} == {"base": pytest.approx([1.0, 0.0])}
    both = log_speedups({"x": [1.0], "y": [1.0, 2.0]}, "base")
    assert {name: len(one) for name, one in both.items()} == {"x": 1, "y": 2}


def test_the_rule_says_precision_budget_or_more() -> None:
    decide = stopping_rule(Sampling(precision=0.01, budget_s=5, min_blocks=6, max_blocks=50), "base")
    same, noisy = [1.0] * 20, list(np.random.default_rng(1).uniform(1, 2, 20))
    assert decide({"base": same, "other": same}, 1.0) == "precision"
    assert decide({"base": same, "other": noisy}, 1.0) is None
    assert decide({"base": same, "other": noisy}, 6.0) == "budget"
    invalid = [math.nan] * 20
    assert decide({"base": same, "other": invalid}, 1.0) is None, "nothing is known without a valid sample"
