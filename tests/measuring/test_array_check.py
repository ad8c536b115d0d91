"""The check cannot pass vacuously."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from xebench.measuring.array_check import UnusableReference, check_array, poison_for, usable_reference

DTYPES = st.sampled_from([np.dtype(t) for t in ("int8", "uint8", "int32", "uint64", "float32", "float64", "bool")])


def all_wrong(poison: np.ndarray, expected: np.ndarray, rtol: float = 0.0, atol: float = 0.0) -> bool:
    found = check_array("y", poison, expected, rtol, atol).fault
    return found is not None and found.startswith(f"y: {expected.size} of {expected.size} elements")


@given(DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, st.integers(1, 400))), st.integers(0, 99), st.booleans())
def test_poison_differs_from_the_expected_values_everywhere(expected: np.ndarray, seed: int, nan: bool) -> None:
    finite = np.nan_to_num(expected, posinf=0, neginf=0)
    poison = poison_for(finite, random.Random(seed), not_a_number=nan)
    assert poison.dtype == expected.dtype
    if expected.dtype.kind == "b" and expected.size >= 64:
        assert 0 < np.count_nonzero(poison != expected) < expected.size, "inverted everywhere it would tell the answer"
    else:
        assert all_wrong(poison, finite)
    if nan and expected.dtype.kind == "f":
        assert np.isnan(poison).all()


def test_poison_where_every_small_integer_is_expected() -> None:
    every = np.arange(-128, 128).astype(np.int8)
    for seed in range(20):
        assert all_wrong(poison_for(every, random.Random(seed)), every)


def test_poison_is_another_each_time() -> None:
    source, expected = random.Random(1), np.arange(4)
    for kind in (np.int32, np.float32):
        assert len({float(poison_for(expected.astype(kind), source)[0]) for _ in range(20)}) == 20


@pytest.mark.parametrize(("rtol", "atol"), [(0.5, 0.0), (3.0, 0.0), (0.0, 1e6), (0.1, 10.0)])
def test_poison_is_beyond_every_tolerance(rtol: float, atol: float) -> None:
    expected = np.array([-7.0, 0.0, 1e4], np.float32)
    for seed in range(20):
        assert all_wrong(poison_for(expected, random.Random(seed), rtol, atol), expected, rtol, atol)


def test_what_is_not_written_keeps_its_fill() -> None:
    expected = np.array([3, -1, 4, -1], np.int32)
    poison = poison_for(expected, random.Random(1), fill=-1)
    assert (poison == expected).tolist() == [False, True, False, True]
    assert poison[[1, 3]].tolist() == [-1, -1]


def test_a_poison_tells_neither_where_to_write_nor_what() -> None:
    source, expected = random.Random(1), np.arange(256).astype(np.uint8)
    assert len({*(poison_for(expected, source) ^ expected)}) > 100, "not one flip for all"
    poison = poison_for(expected % 2, source, fill=1)
    assert (poison[1::2] == 1).all() and 0 < np.count_nonzero(poison[::2] == 1) < 128


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({}, r"must return {'y': array}: missing \['y'\]"),
        ({"y": np.ones(3), "z": np.ones(3)}, r"unknown \['z'\]"),
        (None, "the reference returned None: return {'y': array}"),
        ([np.ones(3)], "the reference returned a list: return {'y': array}"),
        ({"y": None}, "y: the reference is None, not an array of numbers"),
        ({"y": "abc"}, "y: the reference is a str"),
        ({"y": np.ones(4)}, "shape"),
        ({"y": np.ones(3, object)}, "y: the reference is a ndarray of object, not an array of numbers"),
        ({"y": np.ma.masked_all(3)}, "y: the reference is a MaskedArray of float64, not an array of numbers"),
        ({"y": np.ones(3, np.complex64)}, "y: the reference is complex64, declared is float32"),
    ],
)
def test_a_reference_that_cannot_serve_is_named(expected: object, message: str) -> None:
    with pytest.raises(UnusableReference, match=message):
        usable_reference(expected, {"y": ((3,), np.dtype(np.float32))}, {})


def test_a_reference_must_fit_the_declared_integers() -> None:
    with pytest.raises(UnusableReference, match="does not fit int8"):
        usable_reference({"y": np.array([300])}, {"y": ((1,), np.dtype(np.int8))}, {})
    with pytest.raises(UnusableReference, match="does not fit bool"):
        usable_reference({"y": np.array([2])}, {"y": ((1,), np.dtype(bool))}, {})
    with pytest.raises(UnusableReference, match="does not fit int32"):
        usable_reference({"y": np.array([1.5])}, {"y": ((1,), np.dtype(np.int32))}, {})


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(UnusableReference, match="no element"):
        usable_reference({"y": np.ones(0)}, {"y": ((0,), np.dtype(np.float32))}, {})
    with pytest.raises(UnusableReference, match="no output"):
        usable_reference({}, {}, {})


def test_a_state_that_should_stay_as_it_is_proves_nothing() -> None:
    same = np.arange(3, dtype=np.int32)
    with pytest.raises(UnusableReference, match="proves nothing"):
        usable_reference({"a": same}, {"a": ((3,), same.dtype)}, {"a": same})
    with pytest.raises(UnusableReference, match="proves nothing"):
        usable_reference({"a": same}, {"a": ((3,), same.dtype)}, {"a": same + 1}, {"a": (0.0, 1.0)})
    with pytest.raises(UnusableReference, match="proves nothing"):
        usable_reference({"a": np.full(3, -1)}, {"a": ((3,), same.dtype)}, {"a": -1})


@pytest.mark.parametrize(("rtol", "atol"), [(1.0, 0.0), (0.0, 1.0), (0.5, 0.25)])
def test_tolerances_that_let_one_number_pass_for_all_are_refused(rtol: float, atol: float) -> None:
    declared = {"y": ((3,), np.dtype(np.float32))}
    with pytest.raises(UnusableReference, match=f"one number passes for all elements by rtol={rtol:g}, atol={atol:g}"):
        usable_reference({"y": np.array([1.0, 1.5, 2.5])}, declared, {}, {"y": (rtol, atol)})
    usable_reference({"y": np.array([1.0, 1.5, 4.5])}, declared, {}, {"y": (0.1, 0.25)})
    usable_reference({"y": np.array([1.0, 1.0, 1.09])}, declared, {}, {"y": (min(rtol, 0.5), atol)})  # nearly equal


@pytest.mark.parametrize("expected", [[7.0], [-7.0, -7.1]])
def test_tolerances_that_let_zero_pass_for_equal_elements_are_refused(expected: list[float]) -> None:
    declared = {"y": ((len(expected),), np.dtype(np.float32))}
    with pytest.raises(UnusableReference, match="one number passes for all elements by rtol=0, atol=8"):
        usable_reference({"y": np.array(expected)}, declared, {}, {"y": (0.0, 8.0)})
    usable_reference({"y": np.array(expected)}, declared, {}, {"y": (0.0, 6.0)})
    usable_reference({"y": np.zeros(len(expected))}, declared, {}, {"y": (0.0, 8.0)})


def test_differences_say_how_many_and_where() -> None:
    expected = np.zeros((2, 3), np.int32)
    actual = expected.copy()
    actual[1, 2] = 7
    assert check_array("y", expected, expected, 0, 0).fault is None
    assert check_array("y", actual, expected, 0, 0).fault == (
        "y: 1 of 6 elements differ; first at (1, 2): 7 instead of 0 (rtol=0, atol=0)"
    )


def test_tolerance_is_absolute_plus_relative_and_nan_never_passes() -> None:
    expected = np.array([100.0, 0.0], np.float32)
    near = np.array([100.5, 0.25], np.float32)
    assert check_array("y", near, expected, 0.01, 0.25).fault is None
    assert str(check_array("y", near, expected, 0.01, 0.0).fault).endswith("0.25 instead of 0.0 (rtol=0.01, atol=0)")
    assert check_array("y", np.full(2, np.nan, np.float32), expected, 1e9, 1e9).fault is not None


def test_another_shape_or_type_is_a_difference() -> None:
    one = np.ones(2, np.float32)
    assert "shape" in str(check_array("y", one[:1], one, 0, 0).fault)
    assert "dtype" in str(check_array("y", one.astype(np.float64), one, 0, 0).fault)


PART = 1 << 16


@pytest.mark.parametrize("tolerance", [0.0, 1e-3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.complex64, np.bool_])
def test_every_element_of_a_large_array_is_compared(dtype: Any, tolerance: float) -> None:
    expected = np.ones((3, PART + 7), dtype)
    for number in (0, PART - 1, PART, 2 * PART, expected.size - 1):
        actual = expected.copy()
        actual.reshape(-1)[number] = 0
        told = check_array("y", actual, expected, tolerance, 0.0).fault
        first = tuple(int(i) for i in np.unravel_index(number, expected.shape))
        assert told is not None and told.startswith(f"y: 1 of {expected.size} elements differ; first at {first}: ")
    assert check_array("y", expected.copy(), expected, tolerance, 0.0).fault is None


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int32])
def test_parts_are_judged_as_the_whole_would_be(dtype: Any) -> None:
    source = np.random.default_rng(3)
    expected = (1000 * source.random(2 * PART + 9)).astype(dtype)
    actual = (expected * (1 + 4e-3 * source.random(expected.size))).astype(dtype)
    actual[5::7] = expected[5::7]
    if np.dtype(dtype).kind == "f":
        actual[1::1000] = np.nan
    wide = np.result_type(dtype, np.float64)
    a, e = actual.astype(wide), expected.astype(wide)
    count = int(np.count_nonzero(~(np.abs(a - e) <= 0.25 + 2e-3 * np.abs(e))))
    assert 0 < count < expected.size
    told = check_array("y", actual, expected, 2e-3, 0.25).fault
    assert told is not None and told.startswith(f"y: {count} of {expected.size} elements differ")


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_a_poison_of_one_number_takes_no_memory(dtype: Any) -> None:
    expected = np.arange(PART + 3).astype(dtype).reshape(-1, 1)
    poison = poison_for(expected, random.Random(1))
    assert (poison.shape, poison.dtype) == (expected.shape, expected.dtype)
    assert not any(poison.strides) and not (poison == expected).any()


def test_what_is_not_finite_equals_itself() -> None:
    expected = np.array([1.0, np.nan, np.inf, -np.inf], np.float32)
    declared = {"y": (expected.shape, np.float32)}
    assert usable_reference({"y": expected}, declared, {})["y"].tobytes() == expected.tobytes()
    assert check_array("y", expected.copy(), expected, 1e-5, 0.0) == (None, 0.0)
    for place, other in ((0, np.nan), (0, np.inf), (1, 1.0), (2, -np.inf), (2, 3.0e38)):
        actual = expected.copy()
        actual[place] = other
        assert check_array("y", actual, expected, 1e-5, 1e3).fault is not None, (place, other)


def test_where_not_a_number_is_expected_the_poison_is_a_number() -> None:
    expected = np.array([1.0, np.nan, np.inf], np.float32)
    poison = poison_for(expected, random.Random(1), 1e-5, 0.0, not_a_number=True)
    assert np.isfinite(poison).all()
    assert str(check_array("y", poison, expected, 1e-5, 0.0).fault).startswith("y: 3 of 3")


def test_a_finite_number_that_becomes_infinite_in_a_narrower_type_is_refused() -> None:
    with pytest.raises(UnusableReference, match="not finite in float32"):
        usable_reference({"y": np.array([1e300, 1.0])}, {"y": ((2,), np.float32)}, {})
