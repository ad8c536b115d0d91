"""Flattening kernel arguments into what dpctl's C interface takes: made once, refilled in a few microseconds.

A numba-dpex kernel receives an array as nitems, itemsize, pointer, shape and strides, each an argument of its
own; a kernel in OpenCL C or SPIR-V receives the pointer alone. All values live in one buffer of eight-byte slots; the
pointer table refers to the slots, except for USM pointers, which stand in the table themselves.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from xebench.dpex import native_handles
from xebench.dpex.dpex_errors import ArgumentError
from xebench.dpex.foreign_kernel import GlobalPointer, LocalPointer, Number, Parameter
from xebench.dpex.kernel_api import LocalAccessor
from xebench.dpex.signature import (
    ArgumentType,
    ArrayType,
    LocalType,
    ScalarType,
    argument_type,
    as_usm_array,
    parameter_mismatch,
    scalar_dtype,
)
from xebench.system.sycl_types import Queue, UsmArray

_FORMATS = {
    "int8": "b7x",
    "uint8": "B7x",
    "bool": "?7x",
    "int16": "h6x",
    "uint16": "H6x",
    "int32": "i4x",
    "uint32": "I4x",
    "int64": "q",
    "uint64": "Q",
    "float32": "f4x",
    "float64": "d",
}
#: Local memory of a kernel that is not Python is so many bytes.
_BYTE = native_handles.ARGUMENT_CODES["uint8"]
_COMPLEX_PARTS = {"complex64": "float32", "complex128": "float64"}


class _Slots:
    """The slots of a signature: their struct format, type codes, and which of them are pointers."""

    def __init__(self, signature: Sequence[ArgumentType | Parameter]) -> None:
        self.format = "="
        self.codes: list[int] = []
        self.pointers: list[int] = []
        self.accessors: list[tuple[int, LocalType | LocalPointer]] = []
        for argument in signature:
            self._add(argument)

    def _value(self, dtype: str) -> None:
        self.format += _FORMATS[dtype]
        self.codes.append(native_handles.ARGUMENT_CODES[dtype])

    def _add(self, argument: ArgumentType | Parameter) -> None:
        if isinstance(argument, Number):
            self._value(argument.dtype)
            return
        if isinstance(argument, ScalarType):
            part = _COMPLEX_PARTS.get(argument.dtype)
            for dtype in (part, part) if part else (argument.dtype,):
                self._value(dtype)
            return
        if isinstance(argument, ArrayType | LocalType):
            self._value("int64")
            self._value("int64")
        if isinstance(argument, ArrayType | GlobalPointer):
            self.pointers.append(len(self.codes))
            self.codes.append(native_handles.POINTER_CODE)
        else:
            self.accessors.append((len(self.codes), argument))
            self.codes.append(native_handles.LOCAL_ACCESSOR_CODE)
        self.format += "Q"
        if isinstance(argument, ArrayType | LocalType):
            for _ in range(2 * argument.ndim):
                self._value("int64")


class ArgumentBlock:
    """The flattened arguments of one launch.

    Attributes:
        table: ``void *[]`` for the submit functions.
        codes: ``DPCTLKernelArgType[]``.
        count: how many flattened arguments there are.
        keep: the arguments last filled in.
    """

    def __init__(self, types: Sequence[ArgumentType | Parameter], queue: Queue) -> None:
        """Lay out the slots.

        Args:
            types: of the kernel's arguments.
            queue: arrays have to live in its context.
        """
        slots = _Slots(types)
        self._plan = [(argument, np.dtype(argument.dtype)) for argument in types]  # of None, which is not looked at
        self._struct = struct.Struct(slots.format)
        self._values = ctypes.create_string_buffer(max(self._struct.size, 8))
        self.count = len(slots.codes)
        base = ctypes.addressof(self._values)
        self.table = (ctypes.c_void_p * max(self.count, 1))(*(base + 8 * slot for slot in range(self.count)))
        self.codes = (ctypes.c_int32 * max(self.count, 1))(*slots.codes)
        self._pointers = slots.pointers
        self._accessors = []
        for slot, local in slots.accessors:
            layout = native_handles.LocalAccessorLayout(ndim=1, type_code=_BYTE)
            if isinstance(local, LocalType):
                layout.ndim, layout.type_code = local.ndim, native_handles.ARGUMENT_CODES[local.dtype]
            self._accessors.append(layout)
            self.table[slot] = ctypes.addressof(self._accessors[-1])
        self._context = queue.sycl_context
        self._known_queues: dict[int, Any] = {id(queue): queue}
        self.keep: tuple[Any, ...] = ()

    def fill(self, args: Sequence[Any], check_local_memory: Callable[[int], None]) -> None:
        """Put in the values of ``args``; when it raises, those of before stay.

        Args:
            args: as many as there are types.
            check_local_memory: called with the bytes that LocalAccessors ask for, to raise if they are too many.

        Raises:
            ArgumentError: an argument's count, kind, dtype or layout is not what the kernel was compiled for, or
                its memory belongs to another context.
        """
        if len(args) != len(self._plan):
            raise ArgumentError(f"the kernel takes {len(self._plan)} arguments after its item, {len(args)} given")
        values: list[Any] = []
        pointers: list[int] = []
        local_shapes: list[tuple[int, ...]] = []
        local_bytes = 0
        for position, (expected, dtype) in enumerate(self._plan):
            value = args[position]
            if isinstance(expected, ArrayType):
                array = as_usm_array(value)
                if array is None or array.dtype != dtype or not _fits(array, expected):
                    raise _mismatch(position, expected, value)
                self._check_context(position, array.sycl_queue)
                pointers.append(_flatten_array(values, array))
            elif isinstance(expected, LocalType):
                if not isinstance(value, LocalAccessor) or argument_type(position, value) != expected:
                    raise _mismatch(position, expected, value)
                local_shapes.append(_flatten_local(values, value, dtype.itemsize))
                local_bytes += prod(local_shapes[-1]) * dtype.itemsize
            elif isinstance(expected, ScalarType):
                _flatten_scalar(values, position, expected, value)
            else:
                local_shapes += (shapes := self._take_parameter(values, pointers, position, expected, value))
                local_bytes += sum(map(prod, shapes))
        if local_bytes:
            check_local_memory(local_bytes)
        self._commit(values, pointers, local_shapes)
        self.keep = tuple(args)

    def _commit(self, values: list[Any], pointers: list[int], local_shapes: list[tuple[int, ...]]) -> None:
        try:
            packed = self._struct.pack(*values)
        except (struct.error, OverflowError) as error:
            raise ArgumentError(f"a number does not fit the type that the kernel was compiled for: {error}") from error
        ctypes.memmove(self._values, packed, len(packed))
        table = self.table
        for slot, pointer in zip(self._pointers, pointers, strict=True):
            table[slot] = pointer
        for layout, shape in zip(self._accessors, local_shapes, strict=True):
            layout.dim0, layout.dim1, layout.dim2 = (*shape, 1, 1)[:3]

    def _take_parameter(
        self, values: list[Any], pointers: list[int], position: int, expected: Parameter, value: Any
    ) -> list[tuple[int, ...]]:
        """Put in an argument of a kernel that is not Python; gives the shape of its local memory in bytes, if any."""
        error = parameter_mismatch(position, expected, value)
        if error:
            raise error
        if isinstance(expected, LocalPointer):
            values.append(0)
            return [(prod(map(int, value._shape)) * np.dtype(value._dtype).itemsize,)]
        if isinstance(expected, GlobalPointer):
            array = as_usm_array(value)
            self._check_context(position, array.sycl_queue)
            value = array._pointer
            pointers.append(value)
        values.append(value)
        return []

    def _check_context(self, position: int, queue: Queue) -> None:
        if id(queue) in self._known_queues:
            return
        if queue.sycl_context != self._context:
            raise ArgumentError(
                f"argument {position} lives in another SYCL context than the queue: allocate it on this queue"
            )
        self._known_queues[id(queue)] = queue


def _mismatch(position: int, expected: ArgumentType, value: Any) -> ArgumentError:
    given = argument_type(position, value)
    return ArgumentError(f"argument {position} is {given}; the kernel was compiled for {expected}")


def _fits(array: UsmArray, expected: ArrayType) -> bool:
    if array.ndim != expected.ndim:
        return False
    if expected.layout == "C":
        return bool(array.flags.c_contiguous)
    return expected.layout == "A" or bool(array.flags.f_contiguous)


def _flatten_array(values: list[Any], array: UsmArray) -> int:
    itemsize = array.itemsize
    pointer: int = array._pointer
    values += (array.size, itemsize, pointer, *array.shape)
    for stride in array.strides:
        values.append(stride * itemsize)
    return pointer


def _flatten_local(values: list[Any], accessor: Any, itemsize: int) -> tuple[int, ...]:
    shape = tuple(int(extent) for extent in accessor._shape)
    strides = [itemsize]
    for extent in shape[:0:-1]:
        strides.insert(0, strides[0] * extent)
    values += (prod(shape), itemsize, 0, *shape, *strides)
    return shape


def _flatten_scalar(values: list[Any], position: int, expected: ScalarType, value: Any) -> None:
    dtype = scalar_dtype(value)
    any_integer = type(value) is int and expected.dtype in ("int64", "uint64")
    if dtype != expected.dtype and not any_integer:
        raise _mismatch(position, expected, value)
    if expected.dtype in _COMPLEX_PARTS:
        values += (value.real, value.imag)
    else:
        values.append(value)
