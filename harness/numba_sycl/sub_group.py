"""Sub-groups: the work-items that one hardware thread runs in lockstep, its *lanes*.

numba-dpex 0.23 has no sub-groups. These functions are called in a kernel or device function::

    from numba_sycl import kernel, sub_group


    @kernel(sub_group_size=16)
    def total(item: kapi.NdItem, x, sums):
        value = sub_group.reduce_add(x[item.get_global_id(0)])
        if sub_group.local_id() == 0:
            ...

Each becomes the SPIR-V instruction that its docstring names. *Collective* says that every lane of the sub-group must
reach the same call, so it may not stand in a branch that only some lanes take. The last sub-group of a work-group has
fewer lanes when the work-group's size is no multiple of the sub-group's; reductions and scans cover the lanes that are
there. Lanes are numbered along dimension 0; how a work-group of more dimensions is cut is the device's affair.

A *number* is int8 to int64, uint8 to uint64 or float32, and float16 or float64 where the device has them. Types are not
converted: write ``np.float32(1)`` for a float32 constant. A wrong type is one line at compile time
(:class:`numba_sycl.KernelCompileError`). numba-dpex's simulation in pure Python, ``kernel_api.call_kernel``, runs
work-items one by one, so there every function raises :class:`numba_sycl.errors.NotSimulated`, a
NotImplementedError.

Block access, the last eight functions, is ``SPV_INTEL_subgroups``: Intel devices only, and on Xe-LP and Xe-HPG GPUs not
with 32 lanes. Everything else is core SPIR-V: the capabilities Groups, GroupNonUniformShuffle,
GroupNonUniformShuffleRelative and GroupNonUniformBallot.
"""

# the functions' bodies are the device's:
# mypy: disable-error-code="empty-body"
from __future__ import annotations

from typing import Any, TypeVar

from numba_sycl.code_generation.device_function import GroupFunction, Scope, checks, generators, group_function

__all__ = [
    "all",
    "any",
    "ballot",
    "barrier",
    "block_read",
    "block_read2",
    "block_read4",
    "block_read8",
    "block_write",
    "block_write2",
    "block_write4",
    "block_write8",
    "broadcast",
    "exclusive_scan_add",
    "group_id",
    "inclusive_scan_add",
    "local_id",
    "max_size",
    "num_groups",
    "reduce_add",
    "reduce_max",
    "reduce_min",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "shuffle_xor",
    "size",
]

T = TypeVar("T")

_group = generators.GroupFunctions(Scope.SUB_GROUP, checks.NUMBERS)


@group_function(generators.sub_group_variable("SubgroupLocalInvocationId"))
def local_id() -> int:
    """The lane of this work-item, from 0 to ``size() - 1`` (int32, ``SubgroupLocalInvocationId``). Not collective."""


@group_function(generators.sub_group_variable("SubgroupId"))
def group_id() -> int:
    """The number of this sub-group in its work-group (int32, ``SubgroupId``). Not collective."""


@group_function(generators.sub_group_variable("SubgroupSize"))
def size() -> int:
    """How many lanes this sub-group has, fewer in a work-group's last (int32, ``SubgroupSize``). Not collective."""


@group_function(generators.sub_group_variable("SubgroupMaxSize"))
def max_size() -> int:
    """How many lanes a full sub-group of this kernel has (int32, ``SubgroupMaxSize``). Not collective."""


@group_function(generators.sub_group_variable("NumSubgroups"))
def num_groups() -> int:
    """How many sub-groups this work-group has (int32, ``NumSubgroups``). Not collective."""


@group_function(generators.sub_group_barrier)
def barrier() -> None:
    """Wait for all lanes; what they wrote before, to local and global memory, is visible to them after. Collective.

    ``OpControlBarrier`` of sub-group scope, sequentially consistent.
    """


@group_function(generators.shuffle("GroupNonUniformShuffle", "lane"))
def shuffle(value: T, lane: int) -> T:
    """The *value* of another lane, of each lane's own choice (``OpGroupNonUniformShuffle``). Collective.

    Args:
        value: a number.
        lane: an integer; the result is undefined if no lane has that number.
    """


@group_function(generators.shuffle("GroupNonUniformShuffleXor", "mask"))
def shuffle_xor(value: T, mask: int) -> T:
    """The *value* of lane ``local_id() ^ mask``: a butterfly (``OpGroupNonUniformShuffleXor``). Collective.

    Args:
        value: a number.
        mask: an integer, the same in all lanes; the result is undefined in lanes without a partner.
    """


@group_function(generators.shuffle("GroupNonUniformShuffleUp", "delta"))
def shuffle_up(value: T, delta: int) -> T:
    """The *value* of lane ``local_id() - delta``: values move up (``OpGroupNonUniformShuffleUp``). Collective.

    Args:
        value: a number.
        delta: an integer, the same in all lanes, not negative; the result is undefined in the lowest *delta* lanes.
    """


@group_function(generators.shuffle("GroupNonUniformShuffleDown", "delta"))
def shuffle_down(value: T, delta: int) -> T:
    """The *value* of lane ``local_id() + delta``: values move down (``OpGroupNonUniformShuffleDown``). Collective.

    Args:
        value: a number.
        delta: an integer, the same in all lanes, not negative; the result is undefined in the highest *delta* lanes.
    """


@group_function(generators.shuffle("GroupBroadcast", "lane"))
def broadcast(value: T, lane: int) -> T:
    """The *value* of one lane, in all lanes (``OpGroupBroadcast``). Collective.

    Args:
        value: a number.
        lane: an integer below ``size()``, the same in all lanes.
    """


@group_function(_group.arithmetic("Add", generators.GroupOperation.REDUCE))
def reduce_add(value: T) -> T:
    """The sum of the lanes' values, in all lanes (``OpGroupIAdd``, ``OpGroupFAdd``: Reduce). Collective.

    Takes a number. Integers wrap around; the order in which floats are added is the device's.
    """


@group_function(_group.arithmetic("Min", generators.GroupOperation.REDUCE))
def reduce_min(value: T) -> T:
    """The least of the lanes' numbers (``OpGroupSMin``, ``OpGroupUMin``, ``OpGroupFMin``: Reduce). Collective."""


@group_function(_group.arithmetic("Max", generators.GroupOperation.REDUCE))
def reduce_max(value: T) -> T:
    """The greatest of the lanes' numbers (``OpGroupSMax``, ``OpGroupUMax``, ``OpGroupFMax``: Reduce). Collective."""


@group_function(_group.arithmetic("Add", generators.GroupOperation.INCLUSIVE_SCAN))
def inclusive_scan_add(value: T) -> T:
    """The sum of the numbers of this and all lower lanes. Collective.

    ``OpGroupIAdd``, ``OpGroupFAdd``: InclusiveScan.
    """


@group_function(_group.arithmetic("Add", generators.GroupOperation.EXCLUSIVE_SCAN))
def exclusive_scan_add(value: T) -> T:
    """The sum of the numbers of all lower lanes; 0 in lane 0. Collective.

    ``OpGroupIAdd``, ``OpGroupFAdd``: ExclusiveScan.
    """


@group_function(_group.vote("GroupAny"))
def any(predicate: bool) -> bool:
    """True if a boolean or integer is true in some lane (``OpGroupAny``). Collective."""


@group_function(_group.vote("GroupAll"))
def all(predicate: bool) -> bool:
    """True if a boolean or integer is true in every lane (``OpGroupAll``). Collective."""


@group_function(generators.sub_group_ballot)
def ballot(predicate: bool) -> int:
    """A uint64 whose bit *i* says whether a boolean or integer is true in lane *i* (``OpGroupNonUniformBallot``).

    Lanes that do not reach the call have a zero, so it is not collective; 64 lanes are the most that devices have. Mind
    that numba makes float64 of uint64 and int64: shift by ``np.uint64(lane)``.
    """


@group_function(generators.block_read(1))
def block_read(array: Any, index: Any) -> Any:
    """The lane's element of a block, ``array[index + local_id()]`` (``OpSubgroupBlockReadINTEL``). Collective.

    One message reads for all lanes and carries one address, where ``array[i]`` carries one for each lane.

    Args:
        array: contiguous array of numbers in global memory; the address of ``array[index]`` must be a multiple of 4.
        index: index of the block's first element, the same in all lanes, not negative: an integer, or for an array of
            more dimensions a tuple, whose last part runs along the row. Every lane of a full sub-group must be there.
    """


def _block_read(width: int, array: Any, index: Any) -> tuple[Any, ...]:
    """A tuple of {width}: element *k* is ``array[index + k * max_size() + local_id()]``. Collective.

    Like :func:`block_read`, in as few messages as hold it: up to 256 bytes each on Xe-HPC, 128 on Xe-HPG.
    """


block_read2, block_read4, block_read8 = (
    GroupFunction.variant(_block_read, width, generators.block_read(width), f"block_read{width}", width=width)
    for width in (2, 4, 8)
)


@group_function(generators.block_write(1))
def block_write(array: Any, index: Any, value: Any) -> None:
    """Write the lane's element of a block, ``array[index + local_id()]`` (``OpSubgroupBlockWriteINTEL``). Collective.

    Args:
        array: array as for :func:`block_read`, but the address of ``array[index]`` must be a multiple of 16.
        index: index as for :func:`block_read`.
        value: value, converted to the array's dtype as by ``array[index] = value``.
    """


def _block_write(width: int, array: Any, index: Any, *values: Any) -> None:
    """Write {width} values, or a tuple: *k* goes to ``array[index + k * max_size() + local_id()]``. Collective.

    Like :func:`block_write`, in as few messages as hold it.
    """


block_write2, block_write4, block_write8 = (
    GroupFunction.variant(_block_write, width, generators.block_write(width), f"block_write{width}", width=width)
    for width in (2, 4, 8)
)
