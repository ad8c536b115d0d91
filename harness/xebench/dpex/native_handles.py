"""Handles of OpenCL or Level Zero for objects of SYCL, by the functions that SYCL's own headers call."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Final

from xebench.system.runtime import libraries, opencl_library
from xebench.system.sycl_types import Context, Device, Queue

_KERNEL: Final = "_ZNK4sycl3_V16kernel9getNativeEv"
_DEVICE: Final = "_ZNK4sycl3_V16device9getNativeEv"
_CONTEXT: Final = "_ZNK4sycl3_V17context9getNativeEv"
_QUEUE: Final = "_ZNK4sycl3_V15queue9getNativeERi"
_EXPERIMENTAL: Final = "_ZN4sycl3_V13ext6oneapi12experimental"
_PREPARE: Final = f"{_EXPERIMENTAL}23prepare_for_device_copyEPKvmRKNS0_7contextE"
_RELEASE: Final = f"{_EXPERIMENTAL}24release_from_device_copyEPKvRKNS0_7contextE"


def kernel_handle(kernel: Any) -> ctypes.c_void_p:
    """Of a ``dpctl.program.SyclKernel``. On OpenCL it is a reference that the caller releases.

    Raises:
        OSError, AttributeError: this SYCL runtime has no such function; so for all of these.
    """
    return ctypes.c_void_p(sycl_function(_KERNEL)(ctypes.c_void_p(kernel.addressof_ref())))


def device_handle(device: Device) -> ctypes.c_void_p:
    """Of a ``dpctl.SyclDevice``; on Level Zero, where nothing is to be released."""
    return ctypes.c_void_p(sycl_function(_DEVICE)(ctypes.c_void_p(device.addressof_ref())))


def context_handle(context: Context) -> ctypes.c_void_p:
    """Of a ``dpctl.SyclContext``. On OpenCL it is a reference that the caller releases."""
    return ctypes.c_void_p(sycl_function(_CONTEXT)(ctypes.c_void_p(context.addressof_ref())))


def has_immediate_list(queue: Queue) -> bool:
    """Whether a ``dpctl.SyclQueue`` on Level Zero is an immediate command list, and no command queue."""
    return bool(_queue_handle(queue)[1])


def flush(queue: Queue) -> None:
    """Have OpenCL hand what a ``dpctl.SyclQueue`` holds to the device (``clFlush``).

    Raises:
        OpenCLError: the driver does not.
    """
    library, (handle, _) = opencl_library.open_library(), _queue_handle(queue)
    try:
        opencl_library.check(library.clFlush(handle))
    finally:
        library.clReleaseCommandQueue(handle)


def _queue_handle(queue: Queue) -> tuple[ctypes.c_void_p, int]:
    """A queue's handle, on OpenCL a reference that is to be released, and on Level Zero whether it is a list."""
    kind = ctypes.c_int32()
    handle = sycl_function(_QUEUE)(ctypes.c_void_p(queue.addressof_ref()), ctypes.byref(kind))
    return ctypes.c_void_p(handle), kind.value


def prepare_for_device_copy(address: int, size_bytes: int, context: Context) -> None:
    """Have the driver of a ``dpctl.SyclContext`` import memory of the host; one that cannot ends the process."""
    sycl_function(_PREPARE)(
        ctypes.c_void_p(address), ctypes.c_size_t(size_bytes), ctypes.c_void_p(context.addressof_ref())
    )


def release_from_device_copy(address: int, context: Context) -> None:
    """Have it forget that memory."""
    sycl_function(_RELEASE)(ctypes.c_void_p(address), ctypes.c_void_p(context.addressof_ref()))


def new_object(size_bytes: int) -> int:
    """The address of memory of C++'s ``new``, for what a function returns through an address."""
    new = ctypes.CDLL("libstdc++.so.6")._Znwm
    new.restype, new.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    address: int = new(size_bytes)
    return address


@functools.cache
def sycl_function(name: str) -> Any:
    """A function of this environment's SYCL runtime by its name there."""
    function = getattr(ctypes.CDLL(str(libraries.sycl_library())), name)
    function.restype = ctypes.c_void_p
    return function
