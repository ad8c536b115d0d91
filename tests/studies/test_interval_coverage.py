"""The interval covers what it says: simulation on synthetic noise, seeded, with the bound that was promised."""

import math

import pytest

from tools.studies.intervals import ESTIMATORS, NOISES, coverage, coverage_when_stopping
from xebench.measuring.sampling import Sampling

pytestmark = pytest.mark.nightly
IN_USE = ESTIMATORS["order statistics, in use"]
INDEPENDENT = [name for name in NOISES if name != "ratio correlated, 0.3"]

#: Three standard errors of a coverage of 0.95 that is estimated from this many families.
REPEATS = 600
SLACK = 3 * math.sqrt(0.95 * 0.05 / REPEATS)


@pytest.mark.parametrize("blocks", [7, 10, 15, 20, 30, 60])
@pytest.mark.parametrize("noise", INDEPENDENT)
def test_coverage_of_independent_blocks(noise: str, blocks: int) -> None:
    found = coverage(IN_USE, NOISES[noise], blocks=blocks, repeats=REPEATS, seed=blocks)
    assert 0.94 - SLACK <= found.covered <= 0.975 + SLACK


@pytest.mark.parametrize("blocks", [20, 60])
def test_coverage_of_correlated_ratios(blocks: int) -> None:
    found = coverage(IN_USE, NOISES["ratio correlated, 0.3"], blocks=blocks, repeats=REPEATS, seed=blocks)
    assert found.covered >= 0.92 - SLACK
    naive = coverage(
        ESTIMATORS["bootstrap, median of ratios"],
        NOISES["ratio correlated, 0.3"],
        blocks=blocks,
        repeats=150,
        seed=blocks,
    )
    assert naive.covered < found.covered


@pytest.mark.parametrize("noise", ["lognormal 1 %", "15 % of samples delayed", "load that wanders"])
def test_coverage_holds_when_a_narrow_interval_ends_the_sampling(noise: str) -> None:
    limits = Sampling(precision=0.01, budget_s=math.inf, max_blocks=60)
    found = coverage_when_stopping(NOISES[noise], limits, repeats=300, seed=1)
    assert found.covered >= 0.92 - 3 * math.sqrt(0.92 * 0.08 / 300)
    assert found.blocks < 60


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_is_one(estimator: str) -> None:
    """A wide, crude bound: each of the rivals must be implemented well enough to be held against."""
    found = coverage(ESTIMATORS[estimator], NOISES["lognormal 1 %"], blocks=30, repeats=150, seed=3)
    assert 0.85 <= found.covered <= 1
    assert 0.003 < found.half_width < 0.01
