"""Index spaces for launches without numba-dpex: the same names and attributes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from xebench.dpex.dpex_errors import ArgumentError, ExtentError, IndexSpaceError, KernelOnly


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
        dtype: of integers or floats of 1 to 8 bytes.

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
