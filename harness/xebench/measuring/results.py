"""Convert what functions return to numpy arrays on the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Number
from typing import Any

import numpy as np

from xebench.system.runtime import tensor
from xebench.system.sycl_types import Array


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
