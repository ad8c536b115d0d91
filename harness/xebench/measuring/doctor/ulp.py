"""Compare arrays in units of the last place."""

from __future__ import annotations

from typing import Any

import numpy as np


def first_difference(result: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], ulp: int = 0) -> str | None:
    """Where two arrays first differ by more than ``ulp`` units in the last place, in one line.

    Args:
        result: what the device computed.
        expected: the same shape and dtype, finite.
        ulp: allowed difference; 0 means equal, which is what integers are held to.
    """
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"{result.dtype}{result.shape} instead of {expected.dtype}{expected.shape}"
    if ulp:
        distance = np.abs(result.astype(np.float64) - expected.astype(np.float64))
        right = distance <= ulp * np.spacing(np.abs(expected)).astype(np.float64)
    else:
        right = result == expected
    wrong = np.argwhere(~right)
    if not len(wrong):
        return None
    first = tuple(int(i) for i in wrong[0])
    got, wanted = result[first], expected[first]
    return f"{len(wrong)} of {result.size} wrong, first at {first}: {got!s}, expected {wanted!s}"
