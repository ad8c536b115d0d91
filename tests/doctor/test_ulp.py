"""Comparing in units of the last place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xebench.doctor.self_test import first_difference


def stepped(value: float, steps: int) -> np.ndarray:
    array = np.array([value], np.float32)
    for _ in range(steps):
        array = np.nextafter(array, np.float32(np.inf))
    return array


@given(st.floats(1, 2.0**90, width=32), st.integers(0, 8), st.integers(1, 8))
def test_neighbours_are_counted(value: float, steps: int, allowed: int) -> None:
    """Exact away from powers of two, where the spacing halves; there a step up is never too long."""
    difference = first_difference(stepped(value, steps), np.array([value], np.float32), ulp=allowed)
    if steps <= allowed:
        assert difference is None
    elif np.spacing(stepped(value, steps)) == np.spacing(np.float32(value)):
        assert difference is not None


def test_integers_must_be_equal() -> None:
    expected = np.arange(6).reshape(2, 3)
    result = expected.copy()
    assert first_difference(result, expected) is None
    result[1, 1] = 9
    assert first_difference(result, expected) == "1 of 6 wrong, first at (1, 1): 9, expected 4"


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_what_is_no_number_is_wrong(wrong: float) -> None:
    expected = np.ones(4, np.float32)
    result = expected.copy()
    result[2] = wrong
    assert "1 of 4 wrong, first at (2,)" in (first_difference(result, expected, ulp=5) or "")


def test_shape_and_dtype_must_agree() -> None:
    assert first_difference(np.ones(3), np.ones(4)) == "float64(3,) instead of float64(4,)"
    assert first_difference(np.ones(3, np.float32), np.ones(3)) == "float32(3,) instead of float64(3,)"
