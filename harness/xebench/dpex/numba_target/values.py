"""Types of the globals of kernels, and of what kernels capture, that numba does not know by itself."""

from __future__ import annotations

import inspect
from enum import IntEnum
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numba.core import types
from numba.np import numpy_support

from xebench.dpex import kernel_names
from xebench.dpex._intrinsics.device_function_type import DeviceFunctionType
from xebench.dpex.numba_target.atomic_refs import atomic_ref
from xebench.dpex.numba_target.barriers import atomic_fence, group_barrier
from xebench.dpex.numba_target.device_functions import DeviceFuncType
from xebench.dpex.numba_target.private_arrays import private_array
from xebench.dpex.source_kernel import SourceFunction
from xebench.dpex.target_base.context import target
from xebench.dpex.target_base.device_types import DeviceArray
from xebench.dpex.target_base.registries import value_types

_functions: WeakKeyDictionary[SourceFunction, DeviceFuncType] = WeakKeyDictionary()


#: What kernels call of `xebench.kernel_api`.
_NAMES: Final = {
    id(function): DeviceFunctionType(f"kernel_api.{function.__name__}", inspect.signature(function), typer)
    for function, typer in (
        (kernel_names.AtomicRef, atomic_ref),
        (kernel_names.PrivateArray, private_array),
        (kernel_names.group_barrier, group_barrier),
        (kernel_names.atomic_fence, atomic_fence),
    )
}


def type_of_value(value: Any) -> Any:
    """The type of a value; None: numba knows."""
    if isinstance(value, SourceFunction):
        return _functions.setdefault(value, DeviceFuncType(value))
    if id(value) in _NAMES:
        return _NAMES[id(value)]
    if isinstance(value, IntEnum) and type(value).__module__ == kernel_names.__name__:
        return types.IntegerLiteral(int(value))
    if type(value).__module__.startswith("dpnp.") and isinstance(getattr(np, _dpnp_name(value), None), np.ufunc):
        return target.typing_context.resolve_value_type(getattr(np, _dpnp_name(value)))
    if isinstance(value, np.ndarray):
        return DeviceArray(numpy_support.from_dtype(value.dtype), value.ndim, "C", readonly=True)
    return None


def _dpnp_name(function: Any) -> str:
    """Of one of dpnp's functions of elements, which numpy has under the same name; "" for anything else."""
    return str(getattr(function, "name_", ""))


value_types.append(type_of_value)
