"""Rates of copies from several sizes: with times that are made up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import pytest

from xebench.roofs.host_probes import fitted, search_line
from xebench.roofs.search import Effort, Form, Measurement, Undetermined, WrongResult

FIXED_NS, GBPS = 60_000.0, 50.0
SIZES = (1 << 14, 4 << 20, 8 << 20, 16 << 20)


def time_ns(size: float) -> float:
    return FIXED_NS + size / GBPS


def form(size: int, times: Iterator[float], verify: Callable[[], None] = lambda: None) -> Form:
    """A copy of so many bytes, whose true time is multiplied by the factors that come."""
    return Form({"bytes": size}, size, lambda: time_ns(size) * next(times), verify)


def ticks() -> Callable[[], float]:
    """A clock that a round advances by a hundredth of a second."""
    moments = itertools.count()
    return lambda: next(moments) / 100


#: A moment's patience.
BRIEF = Effort(patience=6, patience_s=0.01, most_s=0.1)


def measured(*factors: Iterator[float]) -> Measurement:
    """With a factor of each size's time, sample by sample."""
    return search_line([form(size, own) for size, own in zip(SIZES, factors, strict=True)], BRIEF, clock=ticks())


def steady(factor: float = 1.0) -> Iterator[float]:
    return itertools.repeat(factor)


def gbps(measurement: Measurement) -> float:
    return measurement.amount / measurement.best_ns


def test_a_line_has_its_slope_and_its_fixed_cost() -> None:
    line = fitted({size: time_ns(size) for size in SIZES})
    assert line.slope_ns == pytest.approx(1 / GBPS)
    assert line.fixed_ns == pytest.approx(FIXED_NS)


@pytest.mark.parametrize("size", SIZES[1:])
def test_one_size_that_was_disturbed_does_not_bend_the_line(size: int) -> None:
    line = fitted({each: time_ns(each) * (3 if each == size else 1) for each in SIZES})
    assert line == pytest.approx((FIXED_NS, 1 / GBPS))


@pytest.mark.parametrize("times", [{1: 5.0, 100: 6.0, 200: 400.0}, {1: 5.0, 100: 900.0, 200: 1000.0}])
def test_the_fixed_cost_is_neither_negative_nor_more_than_the_least_copy_takes(times: dict[float, float]) -> None:
    assert 0 <= fitted(times).fixed_ns <= 5


def test_the_fixed_cost_is_in_no_roof() -> None:
    found = measured(*(steady() for _ in SIZES))
    assert SIZES[-1] / time_ns(SIZES[-1]) < 0.9 * GBPS, "what a single size would give"
    assert gbps(found) == pytest.approx(GBPS)
    assert found.form == {"bytes": SIZES[-1], "fixed ns": FIXED_NS}


def test_what_was_twenty_times_too_slow_at_first_is_measured_until_it_is_not() -> None:
    disturbed = [itertools.chain([20.0] * 4, steady()) for _ in SIZES]
    assert gbps(measured(*disturbed)) == pytest.approx(GBPS)


def test_halves_that_never_agree_give_no_roof() -> None:
    slower_and_slower = [(1.06**number for number in itertools.count()) for _ in SIZES]
    with pytest.raises(Undetermined, match="two halves of its samples give .* and .* GB/s"):
        measured(*slower_and_slower)


def test_times_that_nobody_trusts_give_no_roof() -> None:
    with pytest.raises(Undetermined, match="half of its samples have no time that the host's clock confirms"):
        measured(steady(), steady(), steady(math.inf), steady())


def test_a_copy_that_copies_nothing_gives_no_roof() -> None:
    def wrong() -> None:
        raise WrongResult("4 of 4 elements are wrong")

    forms = [form(SIZES[0], steady()), form(SIZES[1], steady(), wrong)]
    with pytest.raises(WrongResult, match="elements are wrong"):
        search_line(forms, BRIEF, clock=ticks())
