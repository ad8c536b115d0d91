"""A signature in numba's types, with arrays of no queue in particular: see :mod:`xebench.dpex.signature` for why."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.np import numpy_support
from numba_dpex.core.types import USMNdArray
from numba_dpex.core.types.dpctl_types import DpctlSyclQueue
from numba_dpex.core.types.kernel_api.index_space_ids import ItemType, NdItemType
from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType

from xebench.dpex.parameters import Parameter
from xebench.dpex.signature import ArgumentType, ArrayType, LocalType, ScalarType, Signature


class _AnyQueue(DpctlSyclQueue):  # type: ignore[misc]
    """The queue of every array type that is compiled here: none in particular."""

    def __init__(self, atomic64: bool) -> None:
        self._device = "any:device"
        self._device_has_aspect_atomic64 = atomic64
        self._unique_id = f"any queue, 64-bit atomics {atomic64}"
        types.Type.__init__(self, name=self._unique_id)


def _numba_type(argument: ArgumentType | Parameter, queue: _AnyQueue) -> Any:
    assert isinstance(argument, ArrayType | LocalType | ScalarType)  # others are of kernels that numba never sees
    dtype = numpy_support.from_dtype(np.dtype(argument.dtype))
    if isinstance(argument, ScalarType):
        return dtype
    if isinstance(argument, LocalType):
        return LocalAccessorType(argument.ndim, dtype)
    return USMNdArray(ndim=argument.ndim, layout=argument.layout, dtype=dtype, queue=queue)


def numba_types(signature: Signature) -> tuple[Any, ...]:
    """The numba types of the item and the arguments."""
    items = {"Item": (ItemType(signature.ndim),), "NdItem": (NdItemType(signature.ndim),)}
    queue = _AnyQueue(signature.atomic64)
    return (*items.get(signature.item, ()), *(_numba_type(argument, queue) for argument in signature.arguments))
