"""Buffers, and accessors on host and device: SYCL's classes of these names."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Final, Protocol

import numpy as np

from numba_sycl import DeviceEvent
from numba_sycl.launch import PreparedLaunch
from numba_sycl.sycl_types import Array, Event, Queue
from xebench.errors import XebenchError

#: SYCL's access modes, by the numbers that stand for them in `Request`.
MODES: Final = ("read", "write", "read_write")


class Request(ctypes.Structure):
    """An accessor that a launch is given in place of a pointer; the shim's ``Request``."""

    _fields_ = [("buffer", ctypes.c_void_p), ("mode", ctypes.c_int32), ("no_init", ctypes.c_int32)]


class Buffers(Protocol):
    """Makes buffers on a queue, and launches kernels that take accessors. Buffers are addresses or handles.

    Attributes:
        opened: number of host accessors that are alive.
    """

    opened: int

    def new(self, size_bytes: int, host: int | None, *, writable: bool) -> int:
        """A buffer; ``host`` is the address of memory with its contents, which is written back if it is writable."""

    def free(self, buffer: int) -> None:
        """Wait for its kernels where it is written back, and free it."""

    def open(self, buffer: int, mode: int, *, no_init: bool, dtype: np.dtype[Any]) -> tuple[Any, int]:
        """Wait for its kernels, and make it accessible to the host; gives an accessor and the address of its data."""

    def close(self, accessor: Any) -> None:
        """End the host's access."""

    def add(self, accessor: Any, value: float, step: int) -> None:
        """Add to every ``step``-th element through references of the accessor."""

    def submit(self, launch: PreparedLaunch, depends: Sequence[Event]) -> DeviceEvent:
        """Submit a launch whose arrays are accessors."""


class Buffer:
    """A SYCL buffer: data that the runtime moves to where an accessor asks for it. It is freed at the end of a block.

    Attributes:
        shape, dtype, ndim, size, strides, flags, nbytes: attributes of its data, as an array of USM has them.
        opened: host accessors that are alive.
    """

    def __init__(self, buffers: Buffers, shape: tuple[int, ...], dtype: np.dtype[Any], host: Array | None) -> None:
        if not math.prod(shape):
            raise XebenchError("a buffer has at least one element")
        if host is not None and not host.flags.c_contiguous:
            raise XebenchError("a buffer is made of a contiguous array of numpy")
        self.shape, self.dtype = shape, dtype
        self.ndim, self.size = len(shape), math.prod(shape)
        self.strides = tuple(math.prod(shape[at + 1 :]) for at in range(self.ndim))
        self.flags = SimpleNamespace(c_contiguous=True, f_contiguous=self.ndim == 1)
        self.nbytes = self.size * dtype.itemsize
        self.opened = 0
        self.buffers, self._host = buffers, host
        address, writable = (None, False) if host is None else (host.ctypes.data, host.flags.writeable)
        self._handle: int | None = buffers.new(self.nbytes, address, writable=writable)

    @property
    def handle(self) -> int:
        """The address of the ``sycl::buffer``, or OpenCL's handle."""
        if self._handle is None:
            raise XebenchError("the buffer is freed already: use it within its block")
        return self._handle

    def free(self) -> None:
        """Destroy it: a buffer of a host array waits for its kernels, and writes the array.

        Raises:
            XebenchError: a host accessor is alive, for which this would wait.
        """
        if self.opened:
            raise XebenchError("a host accessor of the buffer is alive: leave its block first")
        handle, self._handle = self._handle, None
        if handle is not None:
            self.buffers.free(handle)

    def __enter__(self) -> Buffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None and not self.opened:
            self.free()


class Accessor:
    """An accessor of a launch; to the code that prepares launches it looks like a contiguous array of USM."""

    def __init__(self, buffer: Buffer, mode: str, queue: Queue, *, no_init: bool) -> None:
        self.buffer, self.dtype, self.itemsize = buffer, buffer.dtype, buffer.dtype.itemsize
        self.shape, self.strides = buffer.shape, buffer.strides
        self.ndim, self.size, self.flags = buffer.ndim, buffer.size, buffer.flags
        self.request = Request(buffer.handle, mode_number(mode, no_init), no_init)
        self.sycl_queue, self.sycl_device = queue, queue.sycl_device
        self._pointer = ctypes.addressof(self.request)

    def get_array(self) -> Accessor:
        """Itself: see `numba_sycl.signature.as_usm_array`."""
        return self


class HostAccessor:
    """A host accessor, alive within its block. Kernels of its buffer do not begin meanwhile.

    Attributes:
        array: the data as native references see it, as by ``get_pointer()``; gone at the end of the block.
    """

    array: Array

    def __init__(self, buffer: Buffer, mode: str, *, no_init: bool) -> None:
        self._buffer, self._mode, self._no_init = buffer, mode_number(mode, no_init), no_init

    def add(self, value: float, step: int = 1) -> None:
        """Add to every ``step``-th element of float32 by the accessor's own references, in a loop of C++ (-O3).

        Raises:
            XebenchError: the mode is "read", or the elements are no float32.
            Unsupported: the buffer is OpenCL's, which has no such references.
        """
        if not self._mode or self._buffer.dtype != np.float32:
            raise XebenchError("host_accessor.add needs float32 and a mode that writes")
        self._buffer.buffers.add(self._accessor, value, step)

    def __enter__(self) -> HostAccessor:
        buffer = self._buffer
        self._accessor, address = buffer.buffers.open(
            buffer.handle, self._mode, no_init=self._no_init, dtype=buffer.dtype
        )
        buffer.opened += 1
        buffer.buffers.opened += 1
        data = (ctypes.c_uint8 * buffer.nbytes).from_address(address)
        self.array = np.ctypeslib.as_array(data).view(buffer.dtype).reshape(buffer.shape)
        self.array.flags.writeable = self._mode > 0
        return self

    def __exit__(self, *_: object) -> None:
        del self.array
        self._buffer.opened -= 1
        self._buffer.buffers.opened -= 1
        self._buffer.buffers.close(self._accessor)


def mode_number(mode: str, no_init: bool) -> int:
    """The number of an access mode.

    Raises:
        XebenchError: there is no such mode, or one that reads what nothing has written.
    """
    if mode not in MODES:
        raise XebenchError(f"mode={mode!r}: use one of {', '.join(map(repr, MODES))}")
    if no_init and mode == "read":
        raise XebenchError("no_init=True needs a mode that writes")
    return MODES.index(mode)
