"""`numba_sycl.kernel_api` without numba-dpex: index spaces, enumerations, and what its names do in plain Python.

In a kernel these names are instructions (`numba_sycl.code_generation`). In plain Python ``call_kernel`` runs
work-items one after the other, so that a kernel can be tried, and stepped through, without a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from enum import IntEnum
from inspect import signature
from itertools import product
from math import prod
from typing import Any, NoReturn

import numpy as np

from numba_sycl.errors import ArgumentError, ExtentError, IndexSpaceError, KernelOnly, NotSimulated

Extents = tuple[int, ...]


class AddressSpace(IntEnum):
    """SYCL's address spaces."""

    PRIVATE = 0
    GLOBAL = 1
    CONSTANT = 2
    LOCAL = 3
    GENERIC = 4


class MemoryOrder(IntEnum):
    """SYCL's memory orders."""

    RELAXED = 0
    ACQUIRE = 1
    CONSUME_UNSUPPORTED = 2
    RELEASE = 3
    ACQ_REL = 4
    SEQ_CST = 5


class MemoryScope(IntEnum):
    """SYCL's memory scopes."""

    WORK_ITEM = 0
    SUB_GROUP = 1
    WORK_GROUP = 2
    DEVICE = 3
    SYSTEM = 4


def _linear(ids: Extents, extents: Extents) -> int:
    total = 0
    for one, extent in zip(ids, extents, strict=True):
        total = total * extent + one
    return total


class Item:
    """A work-item of a `Range`: its id, and the extents of all.

    Args:
        extent: extent in each dimension.
        index: index of this work-item.
    """

    def __init__(self, extent: Extents, index: Extents) -> None:
        self._extent, self._index = tuple(extent), tuple(index)

    def get_id(self, dim: int) -> int:
        """The id in a dimension."""
        return self._index[dim]

    def get_range(self, dim: int) -> int:
        """The extent of a dimension."""
        return self._extent[dim]

    def get_linear_id(self) -> int:
        """The ids as one number; neighbours in the last dimension are neighbours in it."""
        return _linear(self._index, self._extent)

    def get_linear_range(self) -> int:
        """How many work-items there are."""
        return prod(self._extent)

    @property
    def dimensions(self) -> int:
        """How many dimensions there are."""
        return len(self._extent)


class Group:
    """A work-group.

    Args:
        global_range: extents of all work-items.
        local_range: extents of a work-group.
        group_range: extents in work-groups.
        index: index of this work-group.
    """

    def __init__(self, global_range: Extents, local_range: Extents, group_range: Extents, index: Extents) -> None:
        self._global_range, self._local_range = tuple(global_range), tuple(local_range)
        self._group_range, self._index = tuple(group_range), tuple(index)
        self.leader = False

    def get_group_id(self, dim: int) -> int:
        """The group's id in a dimension."""
        return self._index[dim]

    def get_group_range(self, dim: int) -> int:
        """How many groups a dimension has."""
        return self._group_range[dim]

    def get_group_linear_id(self) -> int:
        """The group's ids as one number."""
        return _linear(self._index, self._group_range)

    def get_group_linear_range(self) -> int:
        """How many groups there are."""
        return prod(self._group_range)

    def get_local_range(self, dim: int) -> int:
        """How many work-items a group has in a dimension."""
        return self._local_range[dim]

    def get_local_linear_range(self) -> int:
        """How many work-items a group has."""
        return prod(self._local_range)

    @property
    def dimensions(self) -> int:
        """How many dimensions there are."""
        return len(self._local_range)


class NdItem:
    """A work-item of an `NdRange`.

    Args:
        global_item: position among all work-items.
        local_item: position in its work-group.
        group: work-group of the work-item.
    """

    def __init__(self, global_item: Item, local_item: Item, group: Group) -> None:
        self._global, self._local, self._group = global_item, local_item, group
        group.leader = local_item.get_linear_id() == 0

    def get_global_id(self, dim: int) -> int:
        """The id among all work-items."""
        return self._global.get_id(dim)

    def get_global_range(self, dim: int) -> int:
        """The extent of a dimension."""
        return self._global.get_range(dim)

    def get_global_linear_id(self) -> int:
        """The ids among all as one number."""
        return self._global.get_linear_id()

    def get_global_linear_range(self) -> int:
        """How many work-items there are."""
        return self._global.get_linear_range()

    def get_local_id(self, dim: int) -> int:
        """The id in the work-group."""
        return self._local.get_id(dim)

    def get_local_range(self, dim: int) -> int:
        """The extent of the work-group in a dimension."""
        return self._local.get_range(dim)

    def get_local_linear_id(self) -> int:
        """The ids in the work-group as one number."""
        return self._local.get_linear_id()

    def get_local_linear_range(self) -> int:
        """How many work-items the work-group has."""
        return self._local.get_linear_range()

    def get_group(self) -> Group:
        """The work-group."""
        return self._group

    @property
    def dimensions(self) -> int:
        """How many dimensions there are."""
        return self._global.dimensions


class PrivateArray:
    """An array of one work-item.

    Args:
        shape: literal extents.
        dtype: numpy dtype of the elements.
        fill_zeros: True to begin with zeros; otherwise the contents are undefined.
    """

    def __init__(self, shape: int | Extents, dtype: Any, fill_zeros: bool = False) -> None:
        self._data = (np.zeros if fill_zeros else np.empty)(shape, dtype)

    def __getitem__(self, index: Any) -> Any:
        return self._data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._data[index] = value


class AtomicRef:
    """An element of an array, read and written atomically.

    Args:
        ref: the array.
        index: index of the element.
        memory_order, memory_scope, address_space: properties of the instructions, unused in plain Python.
    """

    def __init__(
        self,
        ref: Any,
        index: Any,
        memory_order: MemoryOrder = MemoryOrder.RELAXED,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
        address_space: AddressSpace | None = None,
    ) -> None:
        if not hasattr(ref, "__getitem__") or not hasattr(ref, "__setitem__"):
            raise ArgumentError(f"AtomicRef of a {type(ref).__name__}: give an array")
        self._ref, self._index = ref, index
        self.memory_order, self.memory_scope, self.address_space = memory_order, memory_scope, address_space

    @property
    def ref(self) -> Any:
        """The element."""
        return self._ref[self._index]

    def load(self) -> Any:
        """The element."""
        return self._ref[self._index]

    def store(self, val: Any) -> None:
        """Write the element."""
        self._ref[self._index] = val

    def exchange(self, val: Any) -> Any:
        """Write the element; gives what it was."""
        return self._replace(lambda old: val)

    def compare_exchange(self, expected: Any, desired: Any, expected_idx: Any = 0) -> bool:
        """Write the element if it is as expected; else put what it is into ``expected``. Gives whether it was."""
        old = self.load()
        if old == expected[expected_idx]:
            self.store(desired)
            return True
        expected[expected_idx] = old
        return False

    def fetch_add(self, val: Any) -> Any:
        """Add to the element; gives what it was, as all of these."""
        return self._replace(lambda old: old + val)

    def fetch_sub(self, val: Any) -> Any:
        """Subtract from the element."""
        return self._replace(lambda old: old - val)

    def fetch_min(self, val: Any) -> Any:
        """Make the element the smaller of the two."""
        return self._replace(lambda old: min(old, val))

    def fetch_max(self, val: Any) -> Any:
        """Make the element the larger of the two."""
        return self._replace(lambda old: max(old, val))

    def fetch_and(self, val: Any) -> Any:
        """Keep the bits that both have."""
        return self._replace(lambda old: old & val)

    def fetch_or(self, val: Any) -> Any:
        """Set the bits that either has."""
        return self._replace(lambda old: old | val)

    def fetch_xor(self, val: Any) -> Any:
        """Set the bits that only one has."""
        return self._replace(lambda old: old ^ val)

    def _replace(self, new: Callable[[Any], Any]) -> Any:
        old = copy(self._ref[self._index])  # dpnp gives a view
        self._ref[self._index] = new(old)
        return old


def group_barrier(group: Group, fence_scope: MemoryScope = MemoryScope.WORK_GROUP) -> None:
    """Wait for the work-group; what its work-items wrote before is visible after.

    Raises:
        NotSimulated: in plain Python, where work-items run one after the other.
    """
    raise NotSimulated("kernel_api.group_barrier")


def atomic_fence(memory_order: MemoryOrder, memory_scope: MemoryScope) -> None:
    """Order memory accesses; nothing in plain Python, where they are in order."""


class _LocalArray(PrivateArray):
    """A LocalAccessor as the work-items of a group see it."""


def call_kernel(kernel_fn: Callable[..., None], index_range: Range | NdRange, *kernel_args: Any) -> None:
    """Run a Python function for every work-item, one after the other.

    Args:
        kernel_fn: takes an `Item` or `NdItem`, and the arguments.
        index_range: the index space.
        kernel_args: arrays, numbers, `LocalAccessor`.

    Raises:
        ArgumentError: no function, another number of arguments, or local memory without work-groups.
        IndexSpaceError: no index space.
    """
    if not callable(kernel_fn):
        raise ArgumentError(f"{kernel_fn!r} is no function")
    if not isinstance(index_range, Range | NdRange):
        raise IndexSpaceError(f"{type(index_range).__name__} is no index space: use kernel_api.Range or NdRange")
    expected = len(signature(kernel_fn).parameters) - 1
    if expected != len(kernel_args):
        raise ArgumentError(f"{kernel_fn.__name__} takes {expected} arguments after its item, {len(kernel_args)} given")
    if isinstance(index_range, Range):
        if any(isinstance(argument, LocalAccessor) for argument in kernel_args):
            raise ArgumentError("a LocalAccessor needs an NdRange with a work-group size")
        for index in _indices(index_range):
            kernel_fn(Item(index_range, index), *kernel_args)
    else:
        _run_groups(kernel_fn, index_range, kernel_args)


def _run_groups(kernel_fn: Callable[..., None], space: NdRange, kernel_args: tuple[Any, ...]) -> None:
    whole, local = tuple(space.global_range), tuple(space.local_range)
    groups = tuple(extent // size for extent, size in zip(whole, local, strict=True))
    for group_index in _indices(groups):
        group = Group(whole, local, groups, group_index)
        arguments = [
            _LocalArray(value._shape, value._dtype) if isinstance(value, LocalAccessor) else value
            for value in kernel_args
        ]
        for local_index in _indices(local):
            pairs = zip(group_index, local, local_index, strict=True)
            index = tuple(of_group * size + own for of_group, size, own in pairs)
            kernel_fn(NdItem(Item(whole, index), Item(local, local_index), group), *arguments)


def item_at(extents: Extents, local: Extents | None, index: Extents) -> Item | NdItem:
    """The item of a work-item: an `Item` where there are no work-groups.

    Args:
        extents: global extents of the index space.
        local: extents of its work-groups; None without any.
        index: place of the work-item in the index space.
    """
    if local is None:
        return Item(extents, index)
    groups = tuple(extent // size for extent, size in zip(extents, local, strict=True))
    group, in_group = zip(*map(divmod, index, local), strict=True)
    return NdItem(Item(extents, index), Item(local, in_group), Group(extents, local, groups, group))


def _indices(extents: Extents) -> Iterator[Extents]:
    return product(*map(range, extents))


class Range(tuple[int, ...]):
    """Extents of one to three dimensions, dimension 0 (the fastest) first.

    Raises:
        ExtentError: an extent is no whole number.
    """

    __slots__ = ()

    def __new__(cls, dim0: int, dim1: int | None = None, dim2: int | None = None) -> Range:
        extents = [extent for extent in (dim0, dim1, dim2) if extent is not None]
        if not all(isinstance(extent, int | np.integer) for extent in extents):
            raise ExtentError(f"Range{tuple(extents)}: extents are whole numbers")
        return super().__new__(cls, map(int, extents))


class NdRange:
    """An index space in work-groups: the extents of all and of one of them.

    Raises:
        IndexSpaceError: they do not fit one another.
    """

    def __init__(self, global_size: Iterable[int], local_size: Iterable[int]) -> None:
        self.global_range = Range(*global_size)
        self.local_range = Range(*local_size)
        whole, group = self.global_range, self.local_range
        if len(whole) != len(group) or any(size < 1 or all_ % size for all_, size in zip(whole, group, strict=True)):
            raise IndexSpaceError(f"NdRange({tuple(whole)}, {tuple(group)}): no whole number of work-groups")

    def __repr__(self) -> str:
        return f"({tuple(self.global_range)}, {tuple(self.local_range)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NdRange) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class LocalAccessor:
    """Local memory for each work-group: an argument of a launch.

    Args:
        shape: extents, one to three.
        dtype: dtype of integers or floats of 1 to 8 bytes.

    Raises:
        ArgumentError: no such shape or dtype.
    """

    def __init__(self, shape: int | Iterable[int], dtype: Any) -> None:
        self._shape = tuple(shape) if isinstance(shape, Iterable) else (shape,)
        self._dtype = np.dtype(dtype)
        if not 1 <= len(self._shape) <= 3 or not all(int(extent) > 0 for extent in self._shape):
            raise ArgumentError(f"LocalAccessor({self._shape}): give one to three positive extents")
        if self._dtype.kind not in "iuf" or self._dtype == np.float16:
            raise ArgumentError(f"LocalAccessor of {self._dtype}: give an integer type, float32 or float64")

    def __getitem__(self, index: Any) -> NoReturn:
        raise KernelOnly("a LocalAccessor has elements in a kernel only: each work-group has its own")

    def __setitem__(self, index: Any, value: Any) -> None:
        self.__getitem__(index)
