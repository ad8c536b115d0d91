"""The comparison of a launch with expected arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numba_sycl import Range, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.tensor import asarray
from numba_sycl.testing import compare_launch, ulps_between

pytestmark = pytest.mark.device


@kernel
def squares(item: kapi.Item, x: Any, y: Any) -> None:
    i = item.get_id(0)
    y[i] = x[i] * x[i]


def arguments() -> list[Any]:
    return [asarray(np.arange(8, dtype=np.float32)), asarray(np.zeros(8, np.float32))]


X = np.arange(8, dtype=np.float32)


def test_a_right_kernel_is_right_in_both_widths() -> None:
    found = compare_launch(squares, Range(8), arguments, {"x": X, "y": X * X})
    assert (found.wrong, found.unoptimised, found.narrowed) == ([], [], True)


def test_a_wrong_element_is_named_for_each_module_and_is_not_the_optimizers() -> None:
    expected = {"x": X, "y": np.where(X == 3, np.float32(10), X * X).astype(np.float32)}
    found = compare_launch(squares, Range(8), arguments, expected)
    assert found.wrong == found.unoptimised
    assert len(found.wrong) == 2
    assert all(line.startswith("y[3] is ") and line.endswith(", and 0 more") for line in found.wrong)


def test_an_allowed_error_is_none() -> None:
    expected = {"x": X, "y": np.nextafter(X * X, np.float32(100))}
    assert compare_launch(squares, Range(8), arguments, expected).wrong
    assert not compare_launch(squares, Range(8), arguments, expected, {"y": 1}).wrong


def test_ulps_count_numbers_of_the_type() -> None:
    one = np.array([1, -0.0, np.nan, np.nan], np.float32)
    other = np.array([np.nextafter(np.float32(1), np.float32(2)), 0.0, np.nan, 1], np.float32)
    assert ulps_between(one, other).tolist() == [1, 0, 0, np.iinfo(np.int64).max]
