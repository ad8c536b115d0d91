"""Count the work of a reference: numpy arrays that count the arithmetic that is done with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np

#: Ufuncs that are no arithmetic of the problem: comparisons, logic of booleans, copies.
FREE = {
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_not", "logical_xor", "isnan", "isfinite", "isinf", "positive", "conjugate"),
}


def _einsum(subscripts: str, *operands: Any, **_: Any) -> int:
    """A product and a sum for each combination of the indices."""
    sizes: dict[str, int] = {}
    for letters, operand in zip(subscripts.partition("->")[0].split(","), operands, strict=True):
        sizes |= dict(zip(letters, np.shape(operand), strict=True))
    return len(operands) * math.prod(sizes.values())


def _convolve(x: Any, weights: Any, *mode: Any, **options: Any) -> int:
    return 2 * int(np.convolve(np.ones(len(x)), np.ones(len(weights)), *mode, **options).sum())


#: What functions cost that are made of no ufuncs.
COSTS: dict[Callable[..., Any], Callable[..., int]] = {
    np.bincount: lambda x, *_, **__: len(x),
    np.convolve: _convolve,
    np.correlate: _convolve,
    np.dot: lambda a, b: 2 * np.size(a) * (1 if np.ndim(b) < 2 else np.shape(b)[-1]),
    np.einsum: _einsum,
}


class Counted(np.ndarray[Any, Any]):
    """An array that counts. All share the number, which is set back before a reference is run."""

    operations = 0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        """Do what is asked on plain arrays, and count."""
        if out is not None:
            options["out"] = tuple(map(plain, out))
        arrays = [plain(value) for value in inputs]
        result = getattr(ufunc, method)(*arrays, **options)
        if ufunc.__name__ not in FREE and getattr(result, "dtype", None) != np.bool_:
            Counted.operations += _cost(ufunc, method, arrays, result)
        return out[0] if out is not None and len(out) == 1 else counting(result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Count what is made of no ufuncs; the ufuncs of all else count themselves."""
        if function in COSTS:
            Counted.operations += COSTS[function](*map(plain, args), **kwargs)
            return counting(function(*map(plain, args), **kwargs))
        return super().__array_function__(function, types, args, kwargs)


def _cost(ufunc: np.ufunc, method: str, arrays: list[Any], result: Any) -> int:
    if ufunc is np.matmul:
        return 2 * int(np.size(result)) * int(np.shape(arrays[0])[-1])
    if method == "__call__":
        return int(np.size(result[0] if isinstance(result, tuple) else result))
    if method == "at":
        return int(np.size(arrays[1]))
    if method == "reduceat":
        return int(np.size(arrays[0]) - np.size(result))
    return int(np.size(arrays[0]))  # a sum of n numbers that begins with nothing


def plain(value: Any) -> Any:
    """A value that does not count."""
    return value.view(np.ndarray) if isinstance(value, Counted) else value


def counting(value: Any) -> Any:
    """A value that counts, where it is an array."""
    return value.view(Counted) if isinstance(value, np.ndarray) else value


def operations_of(reference: Callable[[Any], Any], view: Any) -> int:
    """How many additions, multiplications and the like a reference does with the arrays of its problem."""
    Counted.operations = 0
    with ExitStack() as patches:
        for make in (np.zeros, np.empty):  # what a reference fills counts as well
            patches.enter_context(patch.object(np, make.__name__, lambda *a, make=make, **k: counting(make(*a, **k))))
        reference(type(view)(**{name: counting(value) for name, value in vars(view).items()}))
    return Counted.operations


def arrays_bytes(problem: Any) -> tuple[int, int]:
    """What is read and written when each input is read once and each output written once.

    What is updated in place is written alone in the first number, where it begins with what need not be read, and read
    and written in the second.
    """
    from xebench.patterns.problem import InOut, Output

    once = updated = 0
    for field in problem.fields.values():
        if isinstance(field, Output):
            once += math.prod(map(int, field.shape)) * np.dtype(field.dtype).itemsize
        elif isinstance(field, InOut):
            updated += field.initial.nbytes
        elif isinstance(field, np.ndarray):
            once += field.nbytes
    return once + updated, once + 2 * updated
