"""A prepared launch: compile and flatten arguments once, check against the device, submit at about dpctl's own cost.

A numba-dpex kernel receives an array as nitems, itemsize, pointer, shape and strides, each an argument of its own; a
kernel in OpenCL C or SPIR-V receives the pointer alone. All values lie in one buffer of eight-byte slots; the pointer
table refers to the slots, except for USM pointers, which are in the table themselves.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from numba_sycl import native_handles
from numba_sycl.code_generation.device_function import LOCAL_ALIGNMENT
from numba_sycl.device_kernel import DeviceKernel, declared_local_bytes
from numba_sycl.errors import ArgumentError, IndexSpaceError, SubmissionError, UnsupportedByDevice
from numba_sycl.events import NO_CLOCK_MESSAGE, DeviceEvent, lacks_clock
from numba_sycl.kernel_api import LocalAccessor
from numba_sycl.narrow import is_within
from numba_sycl.signature import (
    ArgumentType,
    ArrayType,
    LocalType,
    OtherParameter,
    ScalarType,
    argument_type,
    as_usm_array,
    index_space_extents,
    scalar_dtype,
)
from numba_sycl.sycl_types import Context, Event, Queue, UsmArray

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


class Slots:
    """The slots of a signature: their struct format, type codes, and which of them are pointers."""

    def __init__(self, signature: Sequence[ArgumentType | OtherParameter]) -> None:
        self.format = "="
        self.codes: list[int] = []
        self.pointers: list[int] = []
        self.accessors: list[tuple[int, int, int]] = []
        for argument in signature:
            self._add(argument)

    def value(self, dtype: str) -> None:
        """Add a number."""
        self.format += _FORMATS[dtype]
        self.codes.append(native_handles.ARGUMENT_CODES[dtype])

    def pointer(self) -> None:
        """Add a pointer to global memory."""
        self.pointers.append(len(self.codes))
        self.codes.append(native_handles.POINTER_CODE)
        self.format += "Q"

    def local_memory(self, ndim: int, type_code: int) -> None:
        """Add local memory: its dimensions, and the code of its elements' type."""
        self.accessors.append((len(self.codes), ndim, type_code))
        self.codes.append(native_handles.LOCAL_ACCESSOR_CODE)
        self.format += "Q"

    def _add(self, argument: ArgumentType | OtherParameter) -> None:
        if isinstance(argument, OtherParameter):
            argument.lay_out(self)
            return
        if isinstance(argument, ScalarType):
            part = _COMPLEX_PARTS.get(argument.dtype)
            for dtype in (part, part) if part else (argument.dtype,):
                self.value(dtype)
            return
        self.value("int64")
        self.value("int64")
        if isinstance(argument, ArrayType):
            self.pointer()
        else:
            self.local_memory(argument.ndim, native_handles.ARGUMENT_CODES[argument.dtype])
        for _ in range(2 * argument.ndim):
            self.value("int64")


class ArgumentBlock:
    """The flattened arguments of one launch.

    Attributes:
        table: ``void *[]`` for the submit functions.
        codes: ``DPCTLKernelArgType[]``.
        count: number of flattened arguments.
        keep: the arguments last filled in.
    """

    def __init__(self, types: Sequence[ArgumentType | OtherParameter], context: Context) -> None:
        """Lay out the slots.

        Args:
            types: types of the kernel's arguments.
            context: context in which arrays must be.
        """
        slots = Slots(types)
        self._plan = [(argument, np.dtype(argument.dtype)) for argument in types]  # of None, which is not looked at
        self._struct = struct.Struct(slots.format)
        self._values = ctypes.create_string_buffer(max(self._struct.size, 8))
        self.count = len(slots.codes)
        base = ctypes.addressof(self._values)
        self.table = (ctypes.c_void_p * max(self.count, 1))(*(base + 8 * slot for slot in range(self.count)))
        self.codes = (ctypes.c_int32 * max(self.count, 1))(*slots.codes)
        self._pointers = slots.pointers
        self._accessors = []
        for slot, ndim, type_code in slots.accessors:
            self._accessors.append(native_handles.LocalAccessorLayout(ndim=ndim, type_code=type_code))
            self.table[slot] = ctypes.addressof(self._accessors[-1])
        self._context = context
        self.keep: tuple[Any, ...] = ()

    def fill(self, args: Sequence[Any], check_local_memory: Callable[[int], None]) -> None:
        """Store the values of ``args``; after an error the earlier values stay.

        Args:
            args: arguments, one for each type.
            check_local_memory: called with the bytes of the LocalAccessors, to raise if they are too many.

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
                self.check_context(position, array.sycl_queue)
                pointers.append(_flatten_array(values, array))
            elif isinstance(expected, LocalType):
                if not isinstance(value, LocalAccessor) or argument_type(position, value) != expected:
                    raise _mismatch(position, expected, value)
                local_shapes.append(_flatten_local(values, value, dtype.itemsize))
                local_bytes += prod(local_shapes[-1]) * dtype.itemsize
            elif isinstance(expected, ScalarType):
                _flatten_scalar(values, position, expected, value)
            else:
                local_shapes += (shapes := expected.take(self, values, pointers, position, value))
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

    def check_context(self, position: int, queue: Queue) -> None:
        """Raise ArgumentError if an array is in another context than the launch."""
        if queue.sycl_context != self._context:
            raise ArgumentError(
                f"argument {position} lives in another SYCL context than the queue: allocate it on this queue"
            )


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
    # Drivers place accessors one after another: whole multiples let the next one start aligned.
    step = max(LOCAL_ALIGNMENT // itemsize, 1)
    return (-(-prod(shape) // step) * step,)


def _flatten_scalar(values: list[Any], position: int, expected: ScalarType, value: Any) -> None:
    dtype = scalar_dtype(value)
    any_integer = type(value) is int and expected.dtype in ("int64", "uint64")
    if dtype != expected.dtype and not any_integer:
        raise _mismatch(position, expected, value)
    if expected.dtype in _COMPLEX_PARTS:
        values += (value.real, value.imag)
    else:
        values.append(value)


# dpctl queries the driver each time, and each launch with other LocalAccessors needs the values.
_local_memory_bytes = lru_cache(maxsize=32)(lambda device: int(device.local_mem_size))


def check_local_memory(kernel: DeviceKernel, local_bytes: int) -> None:
    """Raise UnsupportedByDevice if the LocalAccessors need more memory than the device has."""
    available = _local_memory_bytes(kernel.device)
    if local_bytes > available:
        raise UnsupportedByDevice(
            f"kernel {kernel.compiled.name} needs {local_bytes} bytes of local memory; "
            f"{kernel.device.name} has {available}"
        )


def check_index_space(kernel: DeviceKernel, index_space: Any) -> None:
    """Check an index space against the kernel and its device.

    Raises:
        IndexSpaceError: dimensions, divisibility or a required work-group size are not met.
        UnsupportedByDevice: the work-group is larger than the device or the kernel allows.
    """
    name = kernel.compiled.name
    signature = kernel.compiled.signature
    extents, local = index_space_extents(index_space)
    item = "Item" if local is None else "NdItem"
    if signature.item and (item, len(extents)) != (signature.item, signature.ndim):  # a kernel may take no item
        raise IndexSpaceError(
            f"kernel {name} was compiled for {signature.item}<{signature.ndim}>, not for {item}<{len(extents)}>"
        )
    if any(extent < 1 for extent in (*extents, *(local or ()))):
        raise IndexSpaceError(f"kernel {name}: an extent of {index_space} is not positive")
    if prod(extents) >= _MOST_ITEMS:
        raise IndexSpaceError(f"kernel {name}: {prod(extents)} work-items; SYCL's runtimes take fewer than 2**31")
    required = kernel.compiled.options.work_group_size
    if required is not None:
        required += (1,) * (len(extents) - len(required))
    group = local or required
    if group is None:
        return
    if len(group) != len(extents) or any(g % w for g, w in zip(extents, group, strict=True)):
        raise IndexSpaceError(f"kernel {name}: global size {extents} is not a multiple of the work-group {group}")
    if required is not None and tuple(group) != required:
        raise IndexSpaceError(f"kernel {name} requires work-groups of {required}, not {group}")
    _check_work_group(kernel, tuple(group))


def _check_work_group(kernel: DeviceKernel, group: tuple[int, ...]) -> None:
    name, device = kernel.compiled.name, kernel.device
    items = prod(group)
    allowed = min(device.max_work_group_size, kernel.max_work_group_size or device.max_work_group_size)
    if items > allowed:
        raise UnsupportedByDevice(f"kernel {name}: a work-group of {items}; {device.name} allows {allowed}")
    longest = tuple(device.max_work_item_sizes3d)[::-1]  # dpctl has SYCL's order, the fastest dimension last
    if any(size > most for size, most in zip(group, longest, strict=False)):
        raise UnsupportedByDevice(f"kernel {name}: work-group {group}; {device.name} allows {longest}")


#: Runtimes of SYCL refuse so many: ids fit a 32-bit integer.
_MOST_ITEMS = 1 << 31

#: An int may be one, but is compiled as a signed number.
_ANY_UNSIGNED = ScalarType("uint64")

_NO_EVENTS = (ctypes.c_void_p(None), ctypes.c_size_t(0))


def _extents(values: Sequence[int]) -> Any:
    # dpctl takes SYCL's order, the fastest dimension last; numba-dpex's dimension 0 is the fastest.
    return (ctypes.c_size_t * 3)(*reversed(values))


class PreparedLaunch:
    """A kernel, a queue, an index space and arguments, ready to submit any number of times.

    Not for several threads at once. The arguments of every submission stay alive until it has finished.

    Attributes:
        global_size: extents of the index space, dimension 0 (the fastest) first.
        local_size: extents of a work-group; None where the driver chooses.
        local_bytes: shared local memory of a work-group in ``LocalAccessor`` arguments.
        call: arguments of dpctl's submit functions, but for the events to wait for.
    """

    __slots__ = (
        "_block",
        "_function",
        "_ranges",
        "_tolerant",
        "call",
        "device_kernel",
        "global_size",
        "local_bytes",
        "local_size",
        "queue",
    )

    def __init__(self, device_kernel: DeviceKernel, queue: Queue, index_space: Any, args: Sequence[Any]) -> None:
        """Flatten ``args`` and check everything that can be checked before submission.

        Args:
            device_kernel: built for a queue of the same context.
            queue: queue to submit to.
            index_space: ``kernel_api.Range`` or ``NdRange``.
            args: the kernel's arguments after the item.

        Raises:
            IndexSpaceError: dimensions, divisibility, required work-group size.
            UnsupportedByDevice: work-group or local memory larger than the device allows.
            ArgumentError: count, kind, dtype, layout, or memory of another context.
            SubmissionError: the kernel was built for another context than the queue's.
        """
        self.device_kernel = device_kernel
        self._block = ArgumentBlock(device_kernel.compiled.signature.arguments, device_kernel.context)
        self.queue: Any = None
        self.global_size: tuple[int, ...] = ()
        self.local_size: tuple[int, ...] | None = None
        self.local_bytes = 0
        self.move(queue, index_space)
        self._tolerant = [
            (position, expected)
            for position, expected in enumerate(device_kernel.compiled.signature.arguments)
            if expected == _ANY_UNSIGNED or (isinstance(expected, ArrayType) and expected.layout != "C")
        ]
        self.rebind(args)
        taken = device_kernel.kernel.num_args
        if self._block.count != taken:
            raise device_kernel.compiled.miscounted(taken, self._block.count)

    def rebind(self, args: Sequence[Any]) -> None:
        """Take other arguments of the same types for the submissions from now on; a few microseconds.

        Raises:
            ArgumentError: count, kind, dtype, layout, or memory of another context.
            UnsupportedByDevice: more local memory than the device has.
        """
        if self.device_kernel.compiled.bounded and not is_within(
            self.device_kernel.compiled.limit, self.global_size, args
        ):
            raise ArgumentError(
                f"kernel {self.device_kernel.compiled.name}: these arguments are beyond what its code with 32-bit "
                "indices is for: build the kernel as it was compiled"
            )
        self._block.fill(args, self._check_local_memory)

    def move(self, queue: Queue, index_space: Any) -> None:
        """Take another queue of the same context, or other extents, for the submissions from now on.

        Raises:
            IndexSpaceError: dimensions, divisibility, required work-group size.
            UnsupportedByDevice: work-group larger than the device allows.
            SubmissionError: the kernel was built for another context than the queue's.
        """
        extents, local = index_space_extents(index_space)
        is_same = extents == self.global_size and local == self.local_size
        if is_same and queue is self.queue:
            return
        kernel = self.device_kernel
        if queue.sycl_context != kernel.context:
            raise SubmissionError(
                f"kernel {kernel.compiled.name} was built for another context: build it for this queue"
            )
        if not is_same:
            check_index_space(kernel, index_space)
            self.global_size, self.local_size = extents, local
            self._ranges = [_extents(extents)] + ([_extents(local)] if local else [])
            self._function = native_handles.submit_nd_range if local else native_handles.submit_range
        self.queue = queue
        self.call = (
            ctypes.c_void_p(kernel.kernel.addressof_ref()),
            ctypes.c_void_p(queue.addressof_ref()),
            self._block.table,
            self._block.codes,
            ctypes.c_size_t(self._block.count),
            *self._ranges,
            ctypes.c_size_t(len(extents)),
        )

    def takes(self, queue: Queue, index_space: Any, args: Sequence[Any]) -> bool:
        """`move` and `rebind` if these arguments would be compiled to this very kernel; False if not.

        `rebind` takes more: code for strided arrays works with contiguous ones, too.

        Raises:
            IndexSpaceError, UnsupportedByDevice: see `move` and `rebind`.
        """
        compiled = self.device_kernel.compiled
        if compiled.bounded and not is_within(compiled.limit, index_space_extents(index_space)[0], args):
            return False
        try:
            self._block.fill(args, self._check_local_memory)
            if any(argument_type(position, args[position]) != expected for position, expected in self._tolerant):
                return False
        except ArgumentError:
            return False
        self.move(queue, index_space)
        return True

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments last taken."""
        return self._block.keep

    def release(self) -> None:
        """Hold the arguments no longer: `rebind` comes before the next submission."""
        self._block.keep = ()

    def _check_local_memory(self, local_bytes: int) -> None:
        check_local_memory(self.device_kernel, local_bytes)
        self.local_bytes = local_bytes

    def submit(self, depends: Sequence[Event] = ()) -> DeviceEvent:
        """Submit the kernel.

        Args:
            depends: events to wait for, ``DeviceEvent`` or ``dpctl.SyclEvent``.

        Raises:
            SubmissionError: the runtime refused it.
        """
        if depends:
            references = (ctypes.c_void_p * len(depends))(*[event.addressof_ref() for event in depends])
            reference = self._function(*self.call, references, ctypes.c_size_t(len(depends)))
        else:
            reference = self._function(*self.call, *_NO_EVENTS)
        if not reference:
            compiled = self.device_kernel.compiled
            if lacks_clock(self.queue):
                raise SubmissionError(f"kernel {compiled.name} was not submitted: {NO_CLOCK_MESSAGE}")
            declared, available = (
                declared_local_bytes(self.device_kernel),
                _local_memory_bytes(self.device_kernel.device),
            )
            if declared > available:
                raise SubmissionError(
                    f"kernel {compiled.name} was not submitted: it declares {declared} bytes of local memory, and the "
                    f"device has {available}: declare less"
                )
            doubt = compiled.doubt
            raise SubmissionError(f"kernel {compiled.name} was not submitted{doubt}; DPCTL_VERBOSITY=error prints why")
        return DeviceEvent.own(reference, self._block.keep)
