"""Names that numba-dpex has and programs look up in this package: types, errors, and those of its older API."""

from __future__ import annotations

import importlib
from typing import Any, Final

from numba_sycl.errors import ArgumentError, KernelCompileError, OptionError

#: Names of numba-dpex before 0.21 that 0.23 has no more, and what to write; `as_numba_dpex(api="0.20")` has them.
OLDER: Final = {
    "get_global_id": "item.get_id(d), or item.get_global_id(d) of an NdItem",
    "get_local_id": "item.get_local_id(d)",
    "get_group_id": "item.get_group().get_group_id(d)",
    "get_global_size": "item.get_range(d), or item.get_global_range(d) of an NdItem",
    "get_local_size": "item.get_local_range(d)",
    "get_num_groups": "item.get_group().get_group_range(d)",
    "barrier": "kernel_api.group_barrier(item.get_group())",
    "mem_fence": "kernel_api.atomic_fence(order, scope)",
    "local": "an argument kernel_api.LocalAccessor(shape, dtype)",
    "private": "kernel_api.PrivateArray(shape, dtype)",
    "atomic": "kernel_api.AtomicRef(array, index).fetch_add(value)",
}
#: The advice for numba's ``vectorize`` with numba-dpex's target.
VECTORIZE: Final = "is not supported: write a kernel over a Range, or dpnp's functions of whole arrays"
#: What numba-dpex raises where this package raises an error of its own.
ERRORS: Final = {
    "ExecutionQueueInferenceError": ArgumentError,
    "InvalidKernelSpecializationError": OptionError,
    "KernelHasReturnValueError": KernelCompileError,
    "UnsupportedKernelArgumentError": ArgumentError,
}
#: Names of `numba_sycl.code_generation.compile`, which imports numba.
_TYPES: Final = frozenset(
    (
        *("none", "void", "boolean", "bool_", "b1", "float_", "double", "complex64", "complex128"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"),
        *("i4", "i8", "u4", "u8", "f4", "f8", "usm_ndarray", "USMNdArray", "DpnpNdArray"),
        *("ItemType", "NdItemType", "GroupType", "MissingSpecializationError", "SPIRV_TARGET_NAME"),
    )
)


def numba_name(name: str) -> Any:
    """The object that numba-dpex has under a name for signatures of kernels; numba is imported for types.

    Raises:
        AttributeError: there is no such name.
    """
    if name in ERRORS:
        return ERRORS[name]
    if name in _TYPES:
        from numba_sycl.stacks import is_current

        if is_current():
            return importlib.import_module("numba_sycl.code_generation.compile").named(name)
    if name in OLDER:
        raise AttributeError(f'numba-dpex 0.23 has no {name}: write {OLDER[name]}, or call as_numba_dpex(api="0.20")')
    raise AttributeError(f"neither numba_sycl nor its numba-dpex has {name}")
