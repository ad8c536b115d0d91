"""Sub-groups: the work-items that one hardware thread runs in lockstep, its *lanes*.

numba-dpex 0.23 has no sub-groups. These functions are called in a kernel or device function::

    from harness.dpex import sub_group


    @dpex.kernel
    def total(item: kapi.NdItem, x, sums):
        value = sub_group.reduce_add(x[item.get_global_id(0)])
        if sub_group.local_id() == 0:
            ...

Each becomes the SPIR-V instruction that its docstring names. Unless it says otherwise, a function is
*collective*: every lane of the sub-group that has work must reach the same call, so it may not stand in a branch
that only some lanes take. The last sub-group of a work-group has fewer lanes when the work-group's size is not a
multiple of the sub-group's; reductions and scans then cover the lanes that are there.

"number" below is int8 to int64, uint8 to uint64, float32, and float64 where the device has it. Types are not
converted: write ``np.float32(1)`` for a float32 constant. A wrong type is a typing error when the kernel is
compiled. In numba-dpex's pure-Python simulation (``kernel_api.call_kernel``), which runs work-items one by one,
every function here raises :class:`harness.dpex._simulation.NotSimulated`.
"""

from __future__ import annotations

from typing import Any, TypeVar

from harness.dpex._intrinsics import device_function
from harness.dpex._simulation import NotSimulated

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


@device_function
def local_id() -> int:
    """This work-item's lane, from 0 to ``size() - 1`` (int32; built-in ``SubgroupLocalInvocationId``).

    Not collective.
    """
    raise NotSimulated(local_id)


@device_function
def group_id() -> int:
    """The number of this sub-group within its work-group (int32; built-in ``SubgroupId``).

    Not collective.
    """
    raise NotSimulated(group_id)


@device_function
def size() -> int:
    """How many lanes this sub-group has; fewer in the last one of a work-group (int32; built-in ``SubgroupSize``).

    Not collective.
    """
    raise NotSimulated(size)


@device_function
def max_size() -> int:
    """How many lanes a full sub-group of this kernel has (int32; built-in ``SubgroupMaxSize``).

    Not collective.
    """
    raise NotSimulated(max_size)


@device_function
def num_groups() -> int:
    """How many sub-groups this work-group has (int32; built-in ``NumSubgroups``).

    Not collective.
    """
    raise NotSimulated(num_groups)


@device_function
def barrier() -> None:
    """Wait for all lanes; what they wrote to local and global memory before is visible to them after.

    Becomes ``OpControlBarrier`` with sub-group scope, sequentially consistent. Collective.
    """
    raise NotSimulated(barrier)


@device_function
def shuffle(value: T, lane: int) -> T:
    """The *value* of another lane, of each lane's own choice (``OpGroupNonUniformShuffle``).

    Args:
        value: a number.
        lane: an integer; the result is undefined if no lane has that number.

    Collective: the value of a lane that does not call is undefined.
    """
    raise NotSimulated(shuffle)


@device_function
def shuffle_xor(value: T, mask: int) -> T:
    """The *value* of lane ``local_id() ^ mask``: a butterfly (``OpGroupNonUniformShuffleXor``).

    Args:
        value: a number.
        mask: an integer, the same in all lanes; the result is undefined in lanes without a partner.

    Collective.
    """
    raise NotSimulated(shuffle_xor)


@device_function
def shuffle_up(value: T, delta: int) -> T:
    """The *value* of lane ``local_id() - delta``: values move up (``OpGroupNonUniformShuffleUp``).

    Args:
        value: a number.
        delta: a non-negative integer, the same in all lanes; the result is undefined in the lowest *delta* lanes.

    Collective.
    """
    raise NotSimulated(shuffle_up)


@device_function
def shuffle_down(value: T, delta: int) -> T:
    """The *value* of lane ``local_id() + delta``: values move down (``OpGroupNonUniformShuffleDown``).

    Args:
        value: a number.
        delta: a non-negative integer, the same in all lanes; the result is undefined in the highest *delta* lanes.

    Collective.
    """
    raise NotSimulated(shuffle_down)


@device_function
def broadcast(value: T, lane: int) -> T:
    """The *value* of one lane, in all lanes (``OpGroupBroadcast`` with sub-group scope).

    Args:
        value: a number.
        lane: an integer, the same in all lanes, below ``size()``.

    Collective.
    """
    raise NotSimulated(broadcast)


@device_function
def reduce_add(value: T) -> T:
    """The sum of the lanes' values, in all lanes (``OpGroupIAdd`` or ``OpGroupFAdd``, Reduce).

    Integers wrap around; the order in which floats are added is the device's. Takes a number. Collective.
    """
    raise NotSimulated(reduce_add)


@device_function
def reduce_min(value: T) -> T:
    """The least of the lanes' values, in all lanes (``OpGroupSMin``, ``OpGroupUMin`` or ``OpGroupFMin``, Reduce).

    Takes a number. Collective.
    """
    raise NotSimulated(reduce_min)


@device_function
def reduce_max(value: T) -> T:
    """The greatest of the lanes' values, in all lanes (``OpGroupSMax``, ``OpGroupUMax`` or ``OpGroupFMax``, Reduce).

    Takes a number. Collective.
    """
    raise NotSimulated(reduce_max)


@device_function
def inclusive_scan_add(value: T) -> T:
    """The sum of the values of the lanes up to this one (``OpGroupIAdd`` or ``OpGroupFAdd``, InclusiveScan).

    Takes a number. Collective.
    """
    raise NotSimulated(inclusive_scan_add)


@device_function
def exclusive_scan_add(value: T) -> T:
    """The sum of the values of the lanes below this one (``OpGroupIAdd`` or ``OpGroupFAdd``, ExclusiveScan).

    It is 0 in lane 0. Takes a number. Collective.
    """
    raise NotSimulated(exclusive_scan_add)


@device_function
def any(predicate: bool) -> bool:
    """Whether *predicate* (a boolean or an integer) is true in some lane (``OpGroupAny``).

    Collective.
    """
    raise NotSimulated(any)


@device_function
def all(predicate: bool) -> bool:
    """Whether *predicate* (a boolean or an integer) is true in every lane (``OpGroupAll``).

    Collective.
    """
    raise NotSimulated(all)


@device_function
def ballot(predicate: bool) -> int:
    """A uint64 whose bit *i* says whether *predicate* is true in lane *i* (``OpGroupNonUniformBallot``).

    Takes a boolean or an integer. Lanes that do not call have a zero; a sub-group has at most 64 lanes. Mind that
    numba turns uint64 with int64 into float64: shift by ``np.uint64(lane)``.
    """
    raise NotSimulated(ballot)


@device_function
def block_read(array: Any, index: int) -> Any:
    """Each lane's element of a block, read with one message: ``array[index + local_id()]``.

    Becomes ``OpSubgroupBlockReadINTEL`` (SPV_INTEL_subgroups; Intel devices).

    Args:
        array: contiguous, in global memory, of numbers; the address of ``array[index]`` must be a multiple of 4.
        index: of the block's first element, the same in all lanes, not negative: an integer, or a tuple for an
            array of several dimensions, whose last one is read along.

    Collective: all lanes of a full sub-group.
    """
    raise NotSimulated(block_read)


@device_function
def block_read2(array: Any, index: int) -> tuple[Any, Any]:
    """A tuple of two elements a lane; element *k* is ``array[index + k * max_size() + local_id()]``.

    Like :func:`block_read`, as one message of two elements.
    """
    raise NotSimulated(block_read2)


@device_function
def block_read4(array: Any, index: int) -> tuple[Any, ...]:
    """A tuple of four elements a lane; element *k* is ``array[index + k * max_size() + local_id()]``.

    Like :func:`block_read`, as one message of four elements.
    """
    raise NotSimulated(block_read4)


@device_function
def block_read8(array: Any, index: int) -> tuple[Any, ...]:
    """A tuple of eight elements a lane; element *k* is ``array[index + k * max_size() + local_id()]``.

    Like :func:`block_read`, as one message of eight elements (or two, where that is the hardware's limit).
    """
    raise NotSimulated(block_read8)


@device_function
def block_write(array: Any, index: int, value: Any) -> None:
    """Write each lane's element of a block with one message: ``array[index + local_id()] = value``.

    Becomes ``OpSubgroupBlockWriteINTEL`` (SPV_INTEL_subgroups; Intel devices).

    Args:
        array: contiguous, in global memory, of numbers; the address of ``array[index]`` must be a multiple of 16.
        index: of the block's first element, as in :func:`block_read`.
        value: converted to the array's dtype, as ``array[index] = value`` does.

    Collective: all lanes of a full sub-group.
    """
    raise NotSimulated(block_write)


@device_function
def block_write2(array: Any, index: int, *values: Any) -> None:
    """Write two elements a lane; value *k* goes to ``array[index + k * max_size() + local_id()]``.

    Like :func:`block_write`; the values are two arguments or one tuple of two.
    """
    raise NotSimulated(block_write2)


@device_function
def block_write4(array: Any, index: int, *values: Any) -> None:
    """Write four elements a lane; value *k* goes to ``array[index + k * max_size() + local_id()]``.

    Like :func:`block_write`; the values are four arguments or one tuple of four.
    """
    raise NotSimulated(block_write4)


@device_function
def block_write8(array: Any, index: int, *values: Any) -> None:
    """Write eight elements a lane; value *k* goes to ``array[index + k * max_size() + local_id()]``.

    Like :func:`block_write`; the values are eight arguments or one tuple of eight.
    """
    raise NotSimulated(block_write8)
