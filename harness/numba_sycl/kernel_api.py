"""The names of kernels and of their launches, the same on both stacks: ``from numba_sycl import kernel_api as kapi``.

On the pinned stack they are numba-dpex's own. On the current one index spaces and local memory are ours, and what only
kernels use is a name (`numba_sycl.kernel_names`).
"""

from typing import TYPE_CHECKING

from numba_sycl.stacks import is_current

if TYPE_CHECKING or not is_current():
    from numba_dpex.kernel_api import (
        AddressSpace,
        AtomicRef,
        Group,
        Item,
        LocalAccessor,
        MemoryOrder,
        MemoryScope,
        NdItem,
        NdRange,
        PrivateArray,
        Range,
        atomic_fence,
        call_kernel,
        group_barrier,
    )
else:
    from numba_sycl.kernel_names import (
        AddressSpace,
        AtomicRef,
        Group,
        Item,
        LocalAccessor,
        MemoryOrder,
        MemoryScope,
        NdItem,
        NdRange,
        PrivateArray,
        Range,
        atomic_fence,
        call_kernel,
        group_barrier,
    )

__all__ = [
    "AddressSpace",
    "AtomicRef",
    "Group",
    "Item",
    "LocalAccessor",
    "MemoryOrder",
    "MemoryScope",
    "NdItem",
    "NdRange",
    "PrivateArray",
    "Range",
    "atomic_fence",
    "call_kernel",
    "group_barrier",
]
