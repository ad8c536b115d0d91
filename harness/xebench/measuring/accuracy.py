"""The distance of a result from a reference that was computed in higher precision than the result has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from xebench.system.sycl_types import Array

#: Where a number of 64 bits has its exponent.
_EXPONENT: Final = 0x7FF << 52
#: Elements that are compared at once: the intermediate results stay small beside the arrays.
_AT_ONCE: Final = 1 << 18


def exact_parts(reference: Mapping[str, Any], expected: Mapping[str, Array]) -> dict[str, Array]:
    """Those of the reference's arrays that have more digits than the outputs.

    Args:
        reference: what the pattern's reference gave.
        expected: the same in the outputs' types.
    """
    raw = {name: np.asarray(reference[name]) for name in expected}
    return {
        name: array
        for name, array in raw.items()
        if array.dtype.kind == expected[name].dtype.kind == "f" and array.itemsize > expected[name].itemsize
    }


def largest_error_ulp(results: Mapping[str, Array], exact: Mapping[str, Array]) -> float | None:
    """The largest distance of a result from the exact one, in units in the last place of its type at that value.

    Args:
        results: arrays that a variant wrote.
        exact: see `exact_parts`.

    Returns:
        None where nothing can be told: no array has a reference of more digits, or a result is not finite.
    """
    errors = [_error_ulp(results[name].reshape(-1), array.reshape(-1)) for name, array in exact.items()]
    largest = max(errors, default=math.nan)
    return largest if all(map(math.isfinite, errors)) and errors else None


def _error_ulp(actual: Array, exact: Array) -> float:
    if actual.size != exact.size:
        return math.nan
    of_type = np.finfo(actual.dtype)
    largest = 0.0
    for begin in range(0, exact.size, _AT_ONCE):
        part = exact[begin : begin + _AT_ONCE]
        magnitude = np.maximum(np.abs(part), of_type.tiny)  # nearer to zero a type has fewer digits
        unit = _power_of_two(magnitude) * exact.dtype.type(2.0**-of_type.nmant)
        with np.errstate(invalid="ignore"):
            errors = np.abs(actual[begin : begin + _AT_ONCE].astype(exact.dtype) - part) / unit
        largest = float(np.maximum(largest, errors.max()))  # keeps what is not a number
    return largest


def _power_of_two(magnitude: Array) -> Array:
    """The largest power of two that is not above each of these normal numbers."""
    if magnitude.dtype == np.float64:  # its exponent alone, which is several times as fast
        return (magnitude.view(np.int64) & _EXPONENT).view(np.float64)
    return np.ldexp(magnitude.dtype.type(1), np.frexp(magnitude)[1] - 1)
