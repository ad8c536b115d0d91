"""Kernels' functions in plain Python, where ``kernel_api.call_kernel`` runs work-items one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xebench.dpex._intrinsics.device_function import DeviceFunction, P, R, Typer
from xebench.dpex.dpex_errors import ArgumentError, NotSimulated


class GroupFunction(DeviceFunction[P, R]):
    """A function of several work-items at once: it has a device's code only, and its Python body never runs."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        raise NotSimulated(self.label)


def group_function(typer: Typer) -> Callable[[Callable[P, R]], GroupFunction[P, R]]:
    """Like ``device_function``, for a function that needs the other work-items of its group."""
    return lambda function: GroupFunction(function, typer)


def load(array: Any, index: Any, width: int, multiple: int = 1) -> tuple[Any, ...]:
    """The *width* elements from *index* on, along the last dimension; *index* must be a multiple of *multiple*."""
    return tuple(array[position] for position in _neighbours(index, width, multiple))


def store(array: Any, index: Any, values: Sequence[Any], width: int, multiple: int = 1) -> None:
    """Store *width* values, given as so many arguments or as one tuple, along the last dimension."""
    if len(values) == 1 and isinstance(values[0], tuple):
        values = values[0]
    if len(values) != width:
        raise ArgumentError(f"{len(values)} value(s) given, but {width} are stored")
    for position, value in zip(_neighbours(index, width, multiple), values, strict=True):
        array[position] = value


def exchange(array: Any, index: Any, value: Any, operation: Callable[[Any, Any], Any]) -> Any:
    """Replace an element by *operation* of itself and *value*, wrapping around like the device; returns the old.

    Args:
        array: a numpy array, or what a LocalAccessor is in simulation.
        index: an integer or a tuple.
        value: converted to the array's dtype first.
        operation: takes the old element and the value.
    """
    old = array[index]
    with np.errstate(over="ignore"):
        array[index] = operation(old, np.asarray(value).astype(old.dtype)[()])
    return old


def _neighbours(index: Any, width: int, multiple: int) -> list[Any]:
    """Indices of *width* elements in a row; checked, since numpy would wrap a negative one around."""
    outer, last = (index[:-1], index[-1]) if isinstance(index, tuple) else ((), index)
    if last < 0:
        raise ArgumentError(f"index is {last}, but must not be negative")
    if last % multiple:
        raise ArgumentError(f"index is {last}, but must be a multiple of {multiple}, or use the unaligned form")
    return [(*outer, last + step) if outer else last + step for step in range(width)]
