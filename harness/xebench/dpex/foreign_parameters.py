"""Parameters of kernels that are not Python: their arguments, and how a launch passes them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from numba_sycl.errors import ArgumentError
from numba_sycl.kernel_api import LocalAccessor
from numba_sycl.launch import ArgumentBlock, Slots
from numba_sycl.native_handles import ARGUMENT_CODES
from numba_sycl.signature import OtherParameter, argument_type, as_usm_array, scalar_dtype

#: Local memory is so many bytes.
_BYTE: Final = ARGUMENT_CODES["uint8"]
#: What a kernel takes of an object of SYCL beside its pointer.
_SIZES_AND_OFFSET: Final = ("elements of the accessor", "of the memory", "first element")
#: ``DPCTLKernelArgType`` of a ``sycl::stream``, which is 13 arguments; only our own shim takes it.
STREAM_CODES: Final = (12, *[13] * 12)


class Stream(ctypes.Structure):
    """A ``sycl::stream`` of a launch: bytes of all that it prints, and of the longest statement."""

    _fields_ = [("bytes", ctypes.c_size_t), ("statement_bytes", ctypes.c_size_t)]


class Parameter(OtherParameter):
    """A parameter of a kernel that is not Python."""

    def misfit(self, value: Any) -> str:
        """The reason why a value does not fit; "" if it does."""
        raise NotImplementedError

    def mismatch(self, position: int, value: Any) -> ArgumentError | None:
        """The error to raise for a value that does not fit; None if it does."""
        fault = self.misfit(value)
        return ArgumentError(f"argument {position} {fault}; the kernel takes {self}") if fault else None

    def checked(self, position: int, value: Any) -> None:
        """Raise an error for a value that does not fit."""
        if error := self.mismatch(position, value):
            raise error


def _sizes(slots: Slots) -> None:
    for _ in _SIZES_AND_OFFSET:
        slots.value("uint64")


@dataclass(frozen=True)
class GlobalPointer(Parameter):
    """An array's memory: dtype name of its elements; None takes any.

    Attributes:
        is_accessor: it is an object of SYCL, for which the kernel takes two sizes and an offset as well.
    """

    dtype: str | None
    is_accessor: bool = False

    def __str__(self) -> str:
        return f"accessor<{self.dtype}>" if self.is_accessor else f"global {self.dtype or 'any'}*"

    def misfit(self, value: Any) -> str:
        """See `Parameter.misfit`."""
        array = as_usm_array(value)
        if array is None:
            return "is no USM array"
        given = argument_type(0, value)
        if self.dtype not in (None, given.dtype):
            return f"is an array of {given.dtype}"
        return "is an array that is not contiguous" if getattr(given, "layout", "C") == "A" else ""

    def lay_out(self, slots: Slots) -> None:
        """See `OtherParameter.lay_out`."""
        slots.pointer()
        if self.is_accessor:
            _sizes(slots)

    def take(
        self, block: ArgumentBlock, values: list[Any], pointers: list[int], position: int, value: Any
    ) -> Sequence[tuple[int, ...]]:
        """See `OtherParameter.take`."""
        self.checked(position, value)
        array = as_usm_array(value)
        block.check_context(position, array.sycl_queue)
        pointers.append(array._pointer)
        values += [array._pointer, array.size, array.size, 0] if self.is_accessor else [array._pointer]
        return ()


@dataclass(frozen=True)
class LocalPointer(Parameter):
    """Local memory of a work-group, given as a LocalAccessor: see `GlobalPointer`."""

    dtype: str | None
    is_accessor: bool = False

    def __str__(self) -> str:
        return f"local_accessor<{self.dtype}>" if self.is_accessor else f"local {self.dtype or 'any'}*"

    def misfit(self, value: Any) -> str:
        """See `Parameter.misfit`."""
        dtype = np.dtype(value._dtype).name if isinstance(value, LocalAccessor) else ""
        return "" if dtype and self.dtype in (None, dtype) else f"is {_describe_value(value)}"

    def lay_out(self, slots: Slots) -> None:
        """See `OtherParameter.lay_out`."""
        slots.local_memory(1, _BYTE)
        if self.is_accessor:
            _sizes(slots)

    def take(
        self, block: ArgumentBlock, values: list[Any], pointers: list[int], position: int, value: Any
    ) -> Sequence[tuple[int, ...]]:
        """See `OtherParameter.take`."""
        self.checked(position, value)
        size = prod(map(int, value._shape))
        values += [0, size, size, 0] if self.is_accessor else [0]
        return [(size * np.dtype(value._dtype).itemsize,)]


@dataclass(frozen=True)
class StreamObject(Parameter):
    """A ``sycl::stream``, given as a `Stream`."""

    dtype: None = None

    def __str__(self) -> str:
        return "stream"

    def misfit(self, value: Any) -> str:
        """See `Parameter.misfit`."""
        return "" if isinstance(value, Stream) else f"is {_describe_value(value)}"

    def lay_out(self, slots: Slots) -> None:
        """See `OtherParameter.lay_out`."""
        slots.pointer()
        slots.codes[-1:] = STREAM_CODES
        slots.format += "Q" * (len(STREAM_CODES) - 1)

    def take(
        self, block: ArgumentBlock, values: list[Any], pointers: list[int], position: int, value: Any
    ) -> Sequence[tuple[int, ...]]:
        """See `OtherParameter.take`."""
        self.checked(position, value)
        pointers.append(ctypes.addressof(value))
        values += [0] * len(STREAM_CODES)
        return ()


@dataclass(frozen=True)
class Number(Parameter):
    """A number by value: dtype name. Python's own numbers become it; those of numpy must be of it."""

    dtype: str

    def __str__(self) -> str:
        return self.dtype

    def misfit(self, value: Any) -> str:
        """See `Parameter.misfit`."""
        fits = type(value) is int or (type(value) is float and self.dtype.startswith("float"))
        return "" if fits or scalar_dtype(value) == self.dtype else f"is {_describe_value(value)}"

    def lay_out(self, slots: Slots) -> None:
        """See `OtherParameter.lay_out`."""
        slots.value(self.dtype)

    def take(
        self, block: ArgumentBlock, values: list[Any], pointers: list[int], position: int, value: Any
    ) -> Sequence[tuple[int, ...]]:
        """See `OtherParameter.take`."""
        self.checked(position, value)
        values.append(value)
        return ()


def _describe_value(value: Any) -> str:
    """Describe a value for the caller who passed it."""
    try:
        return str(argument_type(0, value))
    except ArgumentError:
        return f"a {type(value).__name__}"
