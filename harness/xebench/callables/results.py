"""What functions return, as numpy arrays on the host, and where two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from xebench.measuring.comparison import difference
from xebench.runtime import tensor

Array = npt.NDArray[Any]


def arrays_of(result: Any) -> dict[str, Array]:
    """Copies of the arrays and numbers in what a function returned, by their place: ``result``, ``result[0]``, ...

    What is neither, nor a list, tuple or mapping of them, is left out.
    """
    return dict(_found("result", result))


def _found(place: str, value: Any) -> Iterator[tuple[str, Array]]:
    if isinstance(value, Mapping | list | tuple):
        inside = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in inside:
            yield from _found(f"{place}[{key!r}]", item)
        return
    array = _on_host(value)
    if array is not None and array.dtype.kind in "biufc":
        yield place, array


def _on_host(value: Any) -> Array | None:
    if isinstance(value, np.ndarray | np.generic | Number):
        return np.array(value)
    if isinstance(value, tensor.usm_ndarray):
        return np.asarray(tensor.asnumpy(value))
    to_numpy = getattr(value, "asnumpy", None)  # dpnp's
    return None if to_numpy is None else np.asarray(to_numpy())


def differences(actual: Mapping[str, Array], expected: Mapping[str, Array], rtol: float, atol: float) -> str:
    """Why results are not what was expected, in one line; "" when they are. NaN equals NaN here."""
    missing = [f"{place} is missing" for place in expected if place not in actual]
    found = (_difference(place, actual[place], expected[place], rtol, atol) for place in expected if place in actual)
    return "; ".join([*missing, *filter(None, found)])


def _difference(place: str, actual: Array, expected: Array, rtol: float, atol: float) -> str | None:
    if actual.shape == expected.shape and actual.dtype == expected.dtype:
        same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        nothing = actual.dtype.type(0)
        actual, expected = np.where(same, nothing, actual), np.where(same, nothing, expected)
    return difference(place, actual, expected, rtol, atol)
