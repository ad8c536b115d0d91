"""The check cannot pass vacuously."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.runner.worker.comparison import UnusableReference, check_reference, difference, poison_for

DTYPES = st.sampled_from([np.dtype(t) for t in ("int8", "uint8", "int32", "uint64", "float32", "float64", "bool")])


@given(DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, st.integers(1, 400))))
def test_poison_differs_from_the_expected_values_everywhere(expected: np.ndarray) -> None:
    assert bool((poison_for(expected) != expected).all())


def test_poison_where_every_small_integer_is_expected() -> None:
    every = np.arange(-128, 128).astype(np.int8)
    assert bool((poison_for(every) != every).all())


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({}, "missing"),
        ({"y": np.ones(3), "z": np.ones(3)}, "unknown"),
        ({"y": np.ones(4)}, "shape"),
        ({"y": np.array([1.0, np.nan, 2.0])}, "not finite"),
    ],
)
def test_a_reference_that_cannot_serve_is_named(expected: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(UnusableReference, match=message):
        check_reference(expected, {"y": ((3,), np.dtype(np.float32))}, {})


def test_a_reference_must_fit_the_declared_integers() -> None:
    with pytest.raises(UnusableReference, match="does not fit int8"):
        check_reference({"y": np.array([300])}, {"y": ((1,), np.dtype(np.int8))}, {})


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(UnusableReference, match="no element"):
        check_reference({"y": np.ones(0)}, {"y": ((0,), np.dtype(np.float32))}, {})
    with pytest.raises(UnusableReference, match="no output"):
        check_reference({}, {}, {})


def test_a_state_that_should_stay_as_it_is_proves_nothing() -> None:
    same = np.arange(3, dtype=np.int32)
    with pytest.raises(UnusableReference, match="proves nothing"):
        check_reference({"a": same}, {"a": ((3,), same.dtype)}, {"a": same})


def test_differences_say_how_many_and_where() -> None:
    expected = np.zeros((2, 3), np.int32)
    actual = expected.copy()
    actual[1, 2] = 7
    assert difference("y", expected, expected, 0, 0) is None
    assert difference("y", actual, expected, 0, 0) == "y: 1 of 6 elements differ; first at (1, 2): 7 instead of 0"


def test_tolerance_is_absolute_plus_relative_and_nan_never_passes() -> None:
    expected = np.array([100.0, 0.0], np.float32)
    near = np.array([100.5, 0.25], np.float32)
    assert difference("y", near, expected, 0.01, 0.25) is None
    assert difference("y", near, expected, 0.01, 0.0) is not None
    assert difference("y", np.full(2, np.nan, np.float32), expected, 1e9, 1e9) is not None


def test_another_shape_or_type_is_a_difference() -> None:
    one = np.ones(2, np.float32)
    assert "shape" in str(difference("y", one[:1], one, 0, 0))
    assert "dtype" in str(difference("y", one.astype(np.float64), one, 0, 0))
