"""Is a variant right? A check that cannot pass vacuously.

Outputs are poisoned before a variant runs; every declared output must have an expected value of the same shape, at
least one element is compared, and the expected values must differ from what stood in memory before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class UnusableReference(ValueError):
    """The reference itself cannot serve: a mistake of the pattern file, not of a variant."""


def poison_for(expected: Array) -> Array:
    """An array that differs from ``expected`` in every element, to stand in an output before a variant writes it.

    NaN for floating point; for integers a value that the expected array does not contain.
    """
    if expected.dtype.kind in "fc":
        return np.full_like(expected, np.nan)
    if expected.dtype.kind == "b":
        return np.logical_not(expected)
    info = np.iinfo(expected.dtype)
    present = set(np.unique(expected)[:256].tolist()) if expected.size else set()
    fitting = (info.max - 6 - step for step in range(257))
    value = next((number for number in fitting if number >= info.min and number not in present), None)
    if value is None or bool((expected == value).any()):
        flipped: Array = expected ^ expected.dtype.type(0x55)
        return flipped
    return np.full_like(expected, value)


def check_reference(
    expected: Mapping[str, Any],
    declared: Mapping[str, tuple[tuple[int, ...], Any]],
    initial: Mapping[str, Array],
) -> dict[str, Array]:
    """The reference as arrays of the declared types.

    Args:
        expected: what the pattern's reference gave.
        declared: shape and dtype of every output and in-out array.
        initial: initial contents of the in-out arrays.

    Raises:
        UnusableReference: names differ, shapes differ, nothing to compare, not finite, or an in-out array that is
            expected to stay as it is.
    """
    if set(expected) != set(declared):
        missing, extra = sorted(set(declared) - set(expected)), sorted(set(expected) - set(declared))
        raise UnusableReference(f"the reference must give the declared outputs: missing {missing}, unknown {extra}")
    arrays = {}
    for name, (shape, dtype) in declared.items():
        raw = np.asarray(expected[name])
        if raw.shape != shape:
            raise UnusableReference(f"{name}: the reference has shape {raw.shape}, declared is {shape}")
        if raw.size == 0:
            raise UnusableReference(f"{name}: there is no element to compare")
        value = raw.astype(dtype)
        if value.dtype.kind in "fc" and not bool(np.isfinite(value).all()):
            raise UnusableReference(f"{name}: the reference is not finite in {value.dtype}")
        if raw.dtype.kind in "iub" and value.dtype.kind in "iu" and not bool((value == raw).all()):
            raise UnusableReference(f"{name}: the reference does not fit {value.dtype}")
        if name in initial and bool(np.array_equal(value, initial[name])):
            raise UnusableReference(f"{name}: expected and initial contents are equal, so the check proves nothing")
        arrays[name] = value
    if not arrays:
        raise UnusableReference("the pattern declares no output, so no variant can be checked")
    return arrays


def difference(name: str, actual: Array, expected: Array, rtol: float, atol: float) -> str | None:
    """Why ``actual`` is not ``expected``, or None.

    An element passes when ``|actual - expected| <= atol + rtol * |expected|``; NaN never passes.
    """
    if actual.shape != expected.shape:
        return f"{name}: shape {actual.shape} instead of {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"{name}: dtype {actual.dtype} instead of {expected.dtype}"
    if rtol == 0.0 and atol == 0.0:
        wrong = actual != expected
    else:
        wide = np.result_type(expected.dtype, np.float64)
        a, e = actual.astype(wide), expected.astype(wide)
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(a - e) <= atol + rtol * np.abs(e))
    count = int(np.count_nonzero(wrong))
    if count == 0:
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"{name}: {count} of {expected.size} elements differ; "
        f"first at {first}: {actual[first]} instead of {expected[first]}"
    )
