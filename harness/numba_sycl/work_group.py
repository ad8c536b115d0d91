"""Group algorithms over the work-items of a work-group.

Like :mod:`numba_sycl.sub_group`, these are called in kernels and become the SPIR-V instruction that each docstring
names, here with work-group scope. All of them are *collective*: every work-item of the work-group must reach the same
call. They need an NdRange, and the driver may take local memory for them.

A *number* is int32, uint32, int64, uint64, float32, and float64 where the device has it. SPIR-V has 8 and 16 bits, too,
but OpenCL has no such work-group functions, and Intel's CPU driver crashes on them. Types are not converted; a wrong
one is one line at compile time. Scans go in the hardware's order, along dimension 0 first; that is not the order of
numba-dpex's ``get_local_linear_id``, which goes along the last one. In numba-dpex's pure-Python simulation every
function raises :class:`numba_sycl.errors.NotSimulated`, a NotImplementedError.
"""

# the functions' bodies are the device's:
# mypy: disable-error-code="empty-body"
from __future__ import annotations

from typing import TypeVar

from numba_sycl.code_generation.device_function import Scope, checks, generators, group_function

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

_group = generators.GroupFunctions(Scope.WORK_GROUP, checks.WIDE_NUMBERS)


@group_function(_group.arithmetic("Add", generators.GroupOperation.REDUCE))
def reduce_add(value: T) -> T:
    """The sum of the work-items' numbers, in all of them (``OpGroupIAdd``, ``OpGroupFAdd``: Reduce).

    Integers wrap around; the order in which floats are added is the device's.
    """


@group_function(_group.arithmetic("Min", generators.GroupOperation.REDUCE))
def reduce_min(value: T) -> T:
    """The least of the work-items' numbers (``OpGroupSMin``, ``OpGroupUMin``, ``OpGroupFMin``: Reduce)."""


@group_function(_group.arithmetic("Max", generators.GroupOperation.REDUCE))
def reduce_max(value: T) -> T:
    """The greatest of the work-items' numbers (``OpGroupSMax``, ``OpGroupUMax``, ``OpGroupFMax``: Reduce)."""


@group_function(_group.arithmetic("Add", generators.GroupOperation.INCLUSIVE_SCAN))
def inclusive_scan_add(value: T) -> T:
    """The sum of the numbers of this and all earlier work-items (``OpGroupIAdd``, ``OpGroupFAdd``: InclusiveScan)."""


@group_function(_group.arithmetic("Add", generators.GroupOperation.EXCLUSIVE_SCAN))
def exclusive_scan_add(value: T) -> T:
    """The sum of the numbers of all earlier work-items, from 0 on (``OpGroupIAdd``, ``OpGroupFAdd``: ExclusiveScan)."""


@group_function(generators.work_group_broadcast)
def broadcast(value: T, local_id: int | tuple[int, ...]) -> T:
    """The *value* of one work-item, in all of them (``OpGroupBroadcast``).

    Args:
        value: a number.
        local_id: the work-item's local id, the same in all work-items: an integer for a work-group of one
            dimension, a tuple of ``get_local_id(0), get_local_id(1), ...`` for more.
    """


@group_function(_group.vote("GroupAny"))
def any(predicate: bool) -> bool:
    """True if *predicate* (a boolean or an integer) is true in some work-item (``OpGroupAny``)."""


@group_function(_group.vote("GroupAll"))
def all(predicate: bool) -> bool:
    """True if *predicate* (a boolean or an integer) is true in every work-item (``OpGroupAll``)."""
