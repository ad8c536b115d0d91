"""Group algorithms over the work-items of a work-group.

Like :mod:`harness.dpex.sub_group`, these are called in kernels and become the SPIR-V instruction that each
docstring names, with work-group scope. All of them are *collective*: every work-item of the work-group must reach
the same call. They need an NdRange, and use local memory of the driver's own.

"number" below is int32, uint32, int64, uint64, float32, and float64 where the device has it: OpenCL drivers have no
8- and 16-bit work-group functions. Types are not converted; a wrong one is a typing error when the kernel is compiled.
In numba-dpex's pure-Python simulation every function raises :class:`harness.dpex._simulation.NotSimulated`.
"""

from __future__ import annotations

from typing import TypeVar

from harness.dpex._intrinsics import device_function
from harness.dpex._simulation import NotSimulated

__all__ = [
    "all",
    "any",
    "broadcast",
    "exclusive_scan_add",
    "inclusive_scan_add",
    "reduce_add",
    "reduce_max",
    "reduce_min",
]

T = TypeVar("T")


@device_function
def reduce_add(value: T) -> T:
    """The sum of the work-items' values, in all of them (``OpGroupIAdd`` or ``OpGroupFAdd``, Reduce).

    Integers wrap around; the order in which floats are added is the device's. Takes a number.
    """
    raise NotSimulated(reduce_add)


@device_function
def reduce_min(value: T) -> T:
    """The least of the work-items' values (``OpGroupSMin``, ``OpGroupUMin`` or ``OpGroupFMin``, Reduce).

    Takes a number.
    """
    raise NotSimulated(reduce_min)


@device_function
def reduce_max(value: T) -> T:
    """The greatest of the work-items' values (``OpGroupSMax``, ``OpGroupUMax`` or ``OpGroupFMax``, Reduce).

    Takes a number.
    """
    raise NotSimulated(reduce_max)


@device_function
def inclusive_scan_add(value: T) -> T:
    """The sum of the values up to this work-item, by linear local id (``OpGroupIAdd`` or ``OpGroupFAdd``, InclusiveScan).

    Takes a number.
    """
    raise NotSimulated(inclusive_scan_add)


@device_function
def exclusive_scan_add(value: T) -> T:
    """The sum of the values before this work-item, by linear local id (``OpGroupIAdd`` or ``OpGroupFAdd``, ExclusiveScan).

    It is 0 in the first work-item. Takes a number.
    """
    raise NotSimulated(exclusive_scan_add)


@device_function
def broadcast(value: T, local_id: int | tuple[int, ...]) -> T:
    """The *value* of one work-item, in all of them (``OpGroupBroadcast``).

    Args:
        value: a number.
        local_id: the work-item's local id, the same in all work-items: an integer for a work-group of one
            dimension, a tuple of ``get_local_id(0), get_local_id(1), ...`` for more.
    """
    raise NotSimulated(broadcast)


@device_function
def any(predicate: bool) -> bool:
    """Whether *predicate* (a boolean or an integer) is true in some work-item (``OpGroupAny``)."""
    raise NotSimulated(any)


@device_function
def all(predicate: bool) -> bool:
    """Whether *predicate* (a boolean or an integer) is true in every work-item (``OpGroupAll``)."""
    raise NotSimulated(all)
