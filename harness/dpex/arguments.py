"""Flattening kernel arguments into what dpctl's C interface takes: made once, refilled in a few microseconds.

A numba-dpex kernel receives an array as nitems, itemsize, pointer, shape and strides, each an argument of its
own. All values live in one buffer of eight-byte slots; the pointer table refers to the slots, except for USM
pointers, which stand in the table themselves.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.dpex import interface
from harness.dpex.errors import ArgumentError
from harness.dpex.signature import ArgumentType, ArrayType, LocalType, ScalarType, argument_type, as_usm_array

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
_COMPLEX_PARTS = {"complex64": "float32", "complex128": "float64"}


class _Slots:
    """The slots of a signature: their struct format, type codes, and which of them are pointers."""

    def __init__(self, signature: Sequence[ArgumentType]) -> None:
        self.format = "="
        self.codes: list[int] = []
        self.pointers: list[int] = []
        self.accessors: list[tuple[int, LocalType]] = []
        for argument in signature:
            self._add(argument)

    def _value(self, dtype: str) -> None:
        self.format += _FORMATS[dtype]
        self.codes.append(interface.ARGUMENT_CODES[dtype])

    def _add(self, argument: ArgumentType) -> None:
        if isinstance(argument, ScalarType):
            part = _COMPLEX_PARTS.get(argument.dtype)
            for dtype in (part, part) if part else (argument.dtype,):
                self._value(dtype)
            return
        self._value("int64")
        self._value("int64")
        if isinstance(argument, ArrayType):
            self.pointers.append(len(self.codes))
            self.codes.append(interface.POINTER_CODE)
        else:
            self.accessors.append((len(self.codes), argument))
            self.codes.append(interface.LOCAL_ACCESSOR_CODE)
        self.format += "Q"
        for _ in range(2 * argument.ndim):
            self._value("int64")


def _local_bytes(accessor: Any) -> int:
    return int(np.prod(accessor._shape)) * np.dtype(accessor._dtype).itemsize


class ArgumentBlock:
    """The flattened arguments of one launch.

    Attributes:
        table: ``void *[]`` for the submit functions.
        codes: ``DPCTLKernelArgType[]``.
        count: how many flattened arguments there are.
        keep: the arguments last filled in.
        local_bytes: local memory that they ask for.
    """

    __slots__ = ("_accessors", "_layouts", "_pointers", "_slots", "_struct", "_types", "codes", "count", "keep", "local_bytes", "table")

    def __init__(self, types: Sequence[ArgumentType]) -> None:
        slots = _Slots(types)
        self._types = tuple(types)
        self._struct = struct.Struct(slots.format)
        self._slots = ctypes.create_string_buffer(max(self._struct.size, 8))
        self.count = len(slots.codes)
        base = ctypes.addressof(self._slots)
        self.table = (ctypes.c_void_p * max(self.count, 1))(*(base + 8 * i for i in range(self.count)))
        self.codes = (ctypes.c_int32 * max(self.count, 1))(*slots.codes)
        self._pointers = slots.pointers
        self._layouts = [interface.LocalAccessorLayout() for _ in slots.accessors]
        for (position, _), layout in zip(slots.accessors, self._layouts, strict=True):
            self.table[position] = ctypes.addressof(layout)
        self.keep: tuple[Any, ...] = ()
        self.local_bytes = 0

    def fill(self, args: Sequence[Any]) -> None:
        """Put in the values of ``args``.

        Raises:
            ArgumentError: an argument's count, kind, dtype or layout is not what the kernel was compiled for.
        """
        if len(args) != len(self._types):
            raise ArgumentError(f"the kernel takes {len(self._types)} arguments after its item, {len(args)} given")
        values: list[Any] = []
        pointers: list[int] = []
        layouts = iter(self._layouts)
        self.local_bytes = 0
        for position, (expected, value) in enumerate(zip(self._types, args, strict=True)):
            if isinstance(expected, ArrayType):
                pointer = _flatten_array(values, position, expected, value)
                pointers.append(pointer)
            elif isinstance(expected, LocalType):
                self.local_bytes += _flatten_local(values, position, expected, value, next(layouts))
            else:
                _flatten_scalar(values, position, expected, value)
        try:
            self._struct.pack_into(self._slots, 0, *values)
        except struct.error as error:
            raise ArgumentError(f"a scalar does not fit the type that the kernel was compiled for: {error}") from error
        for slot, pointer in zip(self._pointers, pointers, strict=True):
            self.table[slot] = pointer
        self.keep = tuple(args)


def _mismatch(position: int, expected: ArgumentType, value: Any) -> ArgumentError:
    given = argument_type(position, value)
    return ArgumentError(f"argument {position} is {given}, the kernel was compiled for {expected}: compile for both")


def _flatten_array(values: list[Any], position: int, expected: ArrayType, value: Any) -> int:
    array = as_usm_array(value)
    if array is None or array.dtype.name != expected.dtype or array.ndim != expected.ndim:
        raise _mismatch(position, expected, value)
    if expected.layout != "A":
        flags = array.flags
        if not (flags.c_contiguous if expected.layout == "C" else flags.f_contiguous):
            raise _mismatch(position, expected, value)
    itemsize = array.itemsize
    pointer: int = array._pointer
    values += (array.size, itemsize, pointer, *array.shape)
    values += [stride * itemsize for stride in array.strides]
    return pointer


def _flatten_local(values: list[Any], position: int, expected: LocalType, value: Any, layout: Any) -> int:
    if argument_type(position, value) != expected:
        raise _mismatch(position, expected, value)
    shape = tuple(int(extent) for extent in value._shape)
    itemsize = np.dtype(expected.dtype).itemsize
    strides = [itemsize]
    for extent in shape[:0:-1]:
        strides.insert(0, strides[0] * extent)
    layout.ndim = len(shape)
    layout.type_code = interface.ARGUMENT_CODES[expected.dtype]
    layout.dim0, layout.dim1, layout.dim2 = (*shape, 1, 1)[:3]
    values += (int(np.prod(shape)), itemsize, 0, *shape, *strides)
    return _local_bytes(value)


def _flatten_scalar(values: list[Any], position: int, expected: ScalarType, value: Any) -> None:
    given = argument_type(position, value)
    wide = {"int64", "uint64"}
    if given != expected and not (type(value) is int and isinstance(given, ScalarType) and {given.dtype, expected.dtype} <= wide):
        raise _mismatch(position, expected, value)
    if expected.dtype in _COMPLEX_PARTS:
        values += (value.real, value.imag)
    else:
        values.append(value)
