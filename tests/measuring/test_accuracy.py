"""The largest error of a result: in units in the last place, against a reference that has more digits."""

from __future__ import annotations

import numpy as np
import pytest

from xebench.measuring.array_check import exact_parts, largest_error_ulp

EXACT = np.array([1.0, 3.0, 1024.0])


def test_an_error_is_counted_in_units_of_its_own_place() -> None:
    result = np.array([1 + 2**-23, 3, 1024 + 2**-12], np.float32)
    assert largest_error_ulp({"y": result}, {"y": EXACT}) == 2, "units are 2**-23 at 1 and 2**-13 at 1024"
    assert largest_error_ulp({"y": EXACT.astype(np.float32)}, {"y": EXACT}) == 0
    assert largest_error_ulp({"y": np.array([1], np.float32)}, {"y": np.array([1 + 2**-25])}) == 0.25


def test_a_unit_is_that_of_the_exact_value_not_of_a_neighbour() -> None:
    below_two = np.array([2 - 2**-30])
    assert largest_error_ulp({"y": np.array([2 - 2**-23], np.float32)}, {"y": below_two}) == pytest.approx(1, rel=0.01)
    beyond = np.array([2.0**128])
    largest = np.array([np.finfo(np.float32).max], np.float32)
    assert largest_error_ulp({"y": largest}, {"y": beyond}) == 0.5, "the last finite number is a unit of the next place"


def test_of_several_outputs_and_pieces_the_largest_error_counts() -> None:
    exact = np.ones((3, 1 << 19))
    result = exact.astype(np.float32)
    result[2, -1] += np.float32(3 * 2**-23)
    assert largest_error_ulp({"a": EXACT.astype(np.float32), "b": result}, {"a": EXACT, "b": exact}) == 3


def test_near_zero_a_unit_does_not_vanish() -> None:
    assert largest_error_ulp({"y": np.array([2**-149], np.float32)}, {"y": np.array([0.0])}) == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_has_no_error(bad: float) -> None:
    result = np.array([bad, 3, 1024], np.float32)
    assert largest_error_ulp({"y": result}, {"y": EXACT}) is None
    assert largest_error_ulp({"y": result[1:]}, {"y": EXACT}) is None, "nor a result of another size"


def test_only_a_reference_of_more_digits_is_exact() -> None:
    reference = {
        "wider": [0.1],
        "same": np.array([0.1], np.float32),
        "whole": np.array([1.0]),
        "integers": np.array([1]),
    }
    expected = {
        "wider": np.array([0.1], np.float32),
        "same": np.array([0.1], np.float32),
        "whole": np.array([1], np.int32),
        "integers": np.array([1], np.float32),
    }
    exact = exact_parts(reference, expected)
    assert list(exact) == ["wider"] and exact["wider"].dtype == np.float64
    assert largest_error_ulp({"y": np.array([1], np.float32)}, {}) is None


def test_units_of_doubles_are_those_of_any_other_type() -> None:
    source = np.random.default_rng(5)
    exact = np.ldexp(source.standard_normal(5000), source.integers(-160, 120, 5000))
    result = (exact * (1 + 1e-6 * source.standard_normal(5000))).astype(np.float32)
    doubles, longer = (largest_error_ulp({"y": result}, {"y": exact.astype(t)}) for t in (np.float64, np.longdouble))
    assert doubles == pytest.approx(longer) and longer is not None and longer > 1
