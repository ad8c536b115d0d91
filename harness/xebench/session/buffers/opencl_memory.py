"""Buffers of OpenCL in dpctl's own context: a host accessor maps its memory, as SYCL's does on OpenCL."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from numba_sycl import DeviceEvent, native_handles, opencl_library
from numba_sycl.launch import PreparedLaunch
from numba_sycl.sycl_types import Event, Queue
from xebench.dpex.foreign_parameters import STREAM_CODES
from xebench.dpex.sycl_calls import context_handle, event_of_opencl, queue_handle
from xebench.errors import Unsupported
from xebench.session.buffers.buffer import MODES

_READ_WRITE, _USE_HOST, _COPY_HOST = 1 << 0, 1 << 3, 1 << 5  # CL_MEM_...
_MAP_READ, _MAP_WRITE, _MAP_INVALIDATE = 1 << 0, 1 << 1, 1 << 2  # CL_MAP_...
_MAP: Final = {"read": _MAP_READ, "write": _MAP_WRITE, "read_write": _MAP_READ | _MAP_WRITE}
_TIMES: Final = (0x1281, 0x1282, 0x1283)  # CL_PROFILING_COMMAND_SUBMIT, _START, _END
#: Bytes of a value, by dpctl's code of its type.
_BYTES: Final = {
    code: 1 if name == "bool" else np.dtype(name).itemsize for name, code in native_handles.ARGUMENT_CODES.items()
}

_POINTER, _SIZE, _FLAGS = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
_POINTER_BYTES: Final = ctypes.sizeof(_POINTER)


class OpenCLEvent(DeviceEvent):
    """A command whose times OpenCL tells: SYCL reads none of an event that it did not make."""

    __slots__ = ("_handle",)

    _handle: ctypes.c_void_p

    @classmethod
    def of(cls, handle: ctypes.c_void_p, queue: Queue, keep: Any) -> OpenCLEvent:
        """Own a reference of OpenCL, and keep what the command uses."""
        event = cls.own(event_of_opencl(handle, queue), keep)
        assert isinstance(event, cls)
        event._handle = handle
        return event

    def times(self) -> tuple[int, int, int]:
        """See `DeviceEvent.times`."""
        self.wait()
        library, time = opencl_library.open_library(), ctypes.c_uint64()
        found = []
        for which in _TIMES:
            opencl_library.check(
                library.clGetEventProfilingInfo(self._handle, which, _SIZE(8), ctypes.byref(time), None)
            )
            found.append(time.value)
        return found[0], found[1], found[2]

    def __del__(self) -> None:
        if handle := getattr(self, "_handle", None):
            opencl_library.open_library().clReleaseEvent(handle)
        super().__del__()


class _Mapped(NamedTuple):
    buffer: int
    address: int


class OpenCLBuffers:
    """See `xebench.session.buffers.buffer.Buffers`.

    OpenCL knows no dependences of buffers: there are these of one queue alone, which is in order.

    Args:
        queue: the session's own, on OpenCL.
        lack: the reason why these are not SYCL's.
    """

    def __init__(self, queue: Queue, lack: str) -> None:
        self._queue, self._lack = queue, lack
        self._library = opencl_library.open_library()
        self._library.clCreateBuffer.restype = self._library.clEnqueueMapBuffer.restype = _POINTER
        self._library.clSetKernelArg.argtypes = (_POINTER, ctypes.c_uint32, _SIZE, _POINTER)
        self._context = context_handle(queue.sycl_context)
        self._handle, _ = queue_handle(queue)
        self._of_host: dict[int, int] = {}
        self._size: dict[int, int] = {}
        self.opened = 0

    def __del__(self) -> None:
        if handle := getattr(self, "_handle", None):
            self._library.clReleaseCommandQueue(handle)
            self._library.clReleaseContext(self._context)

    def new(self, size_bytes: int, host: int | None, *, writable: bool) -> int:
        """See `Buffers`; so for all of these."""
        status = ctypes.c_int32()
        flags = _READ_WRITE | (0 if host is None else _USE_HOST if writable else _COPY_HOST)
        made = self._library.clCreateBuffer(
            self._context, _FLAGS(flags), _SIZE(size_bytes), _POINTER(host), ctypes.byref(status)
        )
        opencl_library.check(status.value)
        self._size[made] = size_bytes
        if host is not None and writable:
            self._of_host[made] = host
        return int(made)

    def free(self, buffer: int) -> None:
        """Map it, which brings the host's memory up to date, and release it."""
        if self._of_host.pop(buffer, None) is not None:
            accessor, _ = self.open(buffer, MODES.index("read"), no_init=False, dtype=np.dtype(np.uint8))
            self.close(accessor)
            opencl_library.check(self._library.clFinish(self._handle))
        del self._size[buffer]
        self._library.clReleaseMemObject(_POINTER(buffer))

    def open(self, buffer: int, mode: int, *, no_init: bool, dtype: np.dtype[Any]) -> tuple[Any, int]:
        """Map it."""
        del dtype
        status, flags = ctypes.c_int32(), _MAP_INVALIDATE if no_init else _MAP[MODES[mode]]
        address = self._library.clEnqueueMapBuffer(
            *(self._handle, _POINTER(buffer), 1, _FLAGS(flags), _SIZE(0), _SIZE(self._size[buffer])),
            *(0, None, None, ctypes.byref(status)),
        )
        opencl_library.check(status.value)
        return _Mapped(buffer, address), address

    def close(self, accessor: Any) -> None:
        """Unmap it."""
        opencl_library.check(
            self._library.clEnqueueUnmapMemObject(
                self._handle, _POINTER(accessor.buffer), _POINTER(accessor.address), 0, None, None
            )
        )

    def add(self, accessor: Any, value: float, step: int) -> None:
        """OpenCL hands out a pointer, and no references."""
        raise Unsupported(f"references through a host accessor: {self._lack}")

    def submit(self, launch: PreparedLaunch, depends: Sequence[Event]) -> DeviceEvent:
        """Set the kernel's arguments and enqueue it."""
        if launch.queue is not self._queue or depends:
            raise Unsupported(f"buffers on several queues: {self._lack}")
        if STREAM_CODES[0] in launch.call[3]:
            raise Unsupported(f"sycl::stream: {self._lack}")
        if self.opened:
            raise Unsupported(f"a launch while a host accessor is alive: {self._lack}")
        library, kernel, handle = self._library, native_handles.kernel_handle(launch.device_kernel.kernel), _POINTER()
        _, _, table, codes, count, *_ = launch.call
        set_argument = library.clSetKernelArg
        try:
            for at in range(count.value):
                # a pointer's address is that of a Request, which begins with the buffer's handle
                size, value = _BYTES.get(codes[at], _POINTER_BYTES), table[at]
                if codes[at] == native_handles.LOCAL_ACCESSOR_CODE:
                    size, value = _local_bytes(value), None
                opencl_library.check(set_argument(kernel, at, size, value))
            groups = None if launch.local_size is None else (_SIZE * 3)(*launch.local_size)
            items, dimensions = (_SIZE * 3)(*launch.global_size), len(launch.global_size)
            opencl_library.check(
                library.clEnqueueNDRangeKernel(
                    *(self._handle, kernel, dimensions, None, items, groups, 0, None, ctypes.byref(handle))
                )
            )
        finally:
            library.clReleaseKernel(kernel)
        return OpenCLEvent.of(handle, self._queue, launch.arguments)


def _local_bytes(address: int) -> int:
    layout = native_handles.LocalAccessorLayout.from_address(address)
    extents: tuple[int, ...] = (layout.dim0, layout.dim1, layout.dim2)
    return _BYTES[layout.type_code] * prod(extents)
