"""Check a kernel against expected arrays, in every form in which devices get it.

A launch may take a module in 64 bits or a narrowed one (`numba_sycl.narrow`); both are run here, on any device. Where
a result is wrong, they are run again without the optimizer of the device's compiler: what is right then is its defect.

Example:
    >>> expected = {"a": 2 * np.arange(8)}
    >>> differences = compare_launch(double, Range(8), lambda: [dpnp.arange(8)], expected)
    >>> assert not differences.wrong, differences
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numba_sycl.compiler import compile_kernel
from numba_sycl.device_kernel import build
from numba_sycl.launch import PreparedLaunch
from numba_sycl.narrow import is_within
from numba_sycl.signature import CompiledKernel, as_usm_array, index_space_extents
from numba_sycl.tensor import asnumpy

__all__ = ["Comparison", "compare_launch", "ulps_between"]


@dataclass(frozen=True)
class Comparison:
    """How a kernel did.

    Attributes:
        wrong: a line for each array that differs from what is expected.
        unoptimised: the same where the optimizer of the device's compiler is off; empty where nothing is wrong.
        narrowed: it was run with indices in 32 bits as well.
    """

    wrong: list[str]
    unoptimised: list[str]
    narrowed: bool


def compare_launch(
    kernel: Any,
    index_space: Any,
    arguments: Callable[[], Sequence[Any]],
    expected: Mapping[str, NDArray[Any]],
    ulp: Mapping[str, int] | None = None,
) -> Comparison:
    """Run a kernel in every form, and compare the arrays that it leaves.

    Args:
        kernel: kernel made by `numba_sycl.kernel`.
        index_space: ``Range`` or ``NdRange``.
        arguments: function that makes the arguments of one launch.
        expected: name and final contents of each leading array argument, in order.
        ulp: largest error of each array of floats in units in the last place, by name; 0 if not given.

    Raises:
        KernelCompileError: it cannot be compiled.
    """
    given = arguments()
    compiled = compile_kernel(kernel, index_space, given)
    may_narrow = compiled.narrow and is_within(compiled.limit, index_space_extents(index_space)[0], given)
    modules = [compiled, compiled.narrowed] if may_narrow else [compiled]

    def lines(module: CompiledKernel, *options: str) -> list[str]:
        module = replace(module, options=replace(module.options, build_options=options))
        given = arguments()
        queue = next(array.sycl_queue for array in map(as_usm_array, given) if array is not None)
        PreparedLaunch(build(module, queue), queue, index_space, given).submit().wait()
        found = (
            _line(name, asnumpy(as_usm_array(array)), expected[name], (ulp or {}).get(name, 0))
            for name, array in zip(expected, given, strict=False)
        )
        return [one for one in found if one]

    wrong = [one for module in modules for one in lines(module)]
    unoptimised = [one for module in modules if wrong for one in lines(module, "-cl-opt-disable")]
    return Comparison(wrong, unoptimised, len(modules) > 1)


def _line(name: str, found: NDArray[Any], expected: NDArray[Any], ulp: int) -> str:
    wrong = _wrong(found, expected, ulp)
    if not wrong.any():
        return ""
    at = tuple(int(index) for index in np.argwhere(wrong)[0])
    return f"{name}{list(at)} is {found[at]!r} instead of {expected[at]!r}, and {int(wrong.sum()) - 1} more"


def _wrong(found: NDArray[Any], expected: NDArray[Any], ulp: int) -> NDArray[Any]:
    if found.dtype.kind == "c":
        return np.logical_or(_wrong(found.real, expected.real, ulp), _wrong(found.imag, expected.imag, ulp))
    if found.dtype.kind != "f":
        return np.not_equal(found, expected)
    if ulp == 0:  # the sign of zero counts, that of what is no number does not
        other_sign = np.not_equal(np.signbit(found), np.signbit(expected)) & ~np.isnan(expected)
        wrong: NDArray[Any] = (ulps_between(found, expected) > 0) | other_sign
        return wrong
    return ulps_between(found, expected) > ulp


def ulps_between(found: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """How many numbers of their type are from one to the other; none between two that are NaN.

    Zeros of both signs are one number.
    """
    kind = {2: np.int16, 4: np.int32, 8: np.int64}[found.dtype.itemsize]
    place = [_places(array.view(kind).astype(object), kind) for array in (found, expected)]
    distance = np.abs(place[0] - place[1])
    both = np.isnan(found) & np.isnan(expected)
    return np.where(both, 0, np.where(np.isnan(found) | np.isnan(expected), np.iinfo(np.int64).max, distance))


def _places(bits: NDArray[Any], kind: Any) -> NDArray[Any]:
    return np.where(bits < 0, int(np.iinfo(kind).min) - bits, bits)
