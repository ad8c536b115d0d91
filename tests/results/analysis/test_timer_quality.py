"""How exact a timer is, from made-up numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from xebench.results.analysis.statistics import linearity, timer_quantum


def test_the_quantum_is_the_smallest_step_between_times_that_differ() -> None:
    assert timer_quantum([520, 572, 520, 624, 1040]) == 52
    assert timer_quantum([7, 7, 7]) is None
    assert timer_quantum([7, 8, 7]) == 1


@pytest.mark.parametrize("rounded", [np.floor, np.round])
@pytest.mark.parametrize(("length", "spread"), [(600, 60), (5000, 500)])
@pytest.mark.parametrize("tick", [1, 8, 26.0417, 40, 52.083, 83.333, 100, 1000])
def test_the_quantum_is_found_where_it_is_no_whole_number_of_ns(
    tick: float, length: float, spread: float, rounded: Callable[[np.ndarray], np.ndarray]
) -> None:
    source = np.random.default_rng(5)
    starts = source.random(200) * 1e9
    ends = starts + np.abs(source.normal(length, spread, 200)) + source.exponential(spread, 200)
    durations = rounded(ends // tick * tick) - rounded(starts // tick * tick)
    assert timer_quantum(int(duration) for duration in durations) == pytest.approx(tick, rel=0.005)


def test_times_on_a_line_fit_it_and_others_do_not() -> None:
    line = linearity([1, 2, 3, 4], [110, 210, 310, 410])
    assert line.r2 == pytest.approx(1) and line.residual == pytest.approx(0, abs=1e-9)
    bent = linearity([1, 2, 3, 4], [100, 200, 300, 800])
    assert bent.r2 < 0.9 and bent.residual > 0.1
    assert linearity([1, 2, 3], [5, 5, 5]).r2 == 0, "a time that does not depend on the trip count is no line"
