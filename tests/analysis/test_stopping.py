"""The stopping rule: precision of every pair, then the budget, then the most blocks."""

import numpy as np
import pytest

from harness.analysis.intervals import median_interval
from harness.analysis.stopping import BUDGET, MAX_BLOCKS, MIN_BLOCKS, PRECISION, Limits, decide

LIMITS = Limits(precision=0.01, budget_s=10, max_blocks=50)


def noise(spread: float, blocks: int = 30) -> np.ndarray:
    return np.random.default_rng(12).normal(0.1, spread, blocks)


def test_stops_when_every_pair_is_known() -> None:
    assert decide([noise(0.005), noise(0.002)], blocks=30, elapsed_s=1, limits=LIMITS) == PRECISION
    assert decide([noise(0.005), noise(0.2)], blocks=30, elapsed_s=1, limits=LIMITS) is None


def test_the_precision_is_the_half_width_of_the_log_interval() -> None:
    half_width = median_interval(noise(0.05)).half_width
    for precision, expected in [(half_width * 1.01, PRECISION), (half_width * 0.99, None)]:
        limits = Limits(precision=precision, budget_s=10, max_blocks=50)
        assert decide([noise(0.05)], blocks=30, elapsed_s=1, limits=limits) == expected


@pytest.mark.parametrize(
    ("blocks", "elapsed_s", "expected"),
    [(30, 9.9, None), (30, 10, BUDGET), (50, 1, MAX_BLOCKS), (50, 10, BUDGET), (2, 10, BUDGET)],
)
def test_stops_without_knowing(blocks: int, elapsed_s: float, expected: str | None) -> None:
    assert decide([noise(0.5, blocks)], blocks=blocks, elapsed_s=elapsed_s, limits=LIMITS) == expected


def test_does_not_stop_on_a_width_before_the_fewest_blocks() -> None:
    exact = np.zeros(MIN_BLOCKS)
    assert decide([exact[1:]], blocks=MIN_BLOCKS - 1, elapsed_s=0, limits=LIMITS) is None
    assert decide([exact], blocks=MIN_BLOCKS, elapsed_s=0, limits=LIMITS) == PRECISION


def test_blocks_without_valid_samples_do_not_make_a_pair_known() -> None:
    assert decide([np.zeros(3)], blocks=40, elapsed_s=0, limits=LIMITS) is None
    assert decide([[]], blocks=50, elapsed_s=0, limits=LIMITS) == MAX_BLOCKS
