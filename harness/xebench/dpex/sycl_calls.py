"""Functions of the SYCL runtime that dpctl does not offer, by the names that its own headers call."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from numba_sycl import opencl_library
from numba_sycl.native_handles import new_object, sycl_function
from numba_sycl.sycl_types import Context, Queue

_CONTEXT: Final = "_ZNK4sycl3_V17context9getNativeEv"
_QUEUE: Final = "_ZNK4sycl3_V15queue9getNativeERi"
_EXPERIMENTAL: Final = "_ZN4sycl3_V13ext6oneapi12experimental"
_PREPARE: Final = f"{_EXPERIMENTAL}23prepare_for_device_copyEPKvmRKNS0_7contextE"
_RELEASE: Final = f"{_EXPERIMENTAL}24release_from_device_copyEPKvRKNS0_7contextE"
_EVENT: Final = "_ZN4sycl3_V16detail10make_eventEmRKNS0_7contextENS0_7backendE"
#: ``sycl::backend``.
OPENCL, LEVEL_ZERO = 1, 2
#: Bytes of a ``sycl::kernel``, of its bundle and of an event, each a shared pointer.
_OBJECT: Final = 16


def context_handle(context: Context) -> ctypes.c_void_p:
    """The native handle of a ``dpctl.SyclContext``. On OpenCL it is a reference that the caller releases."""
    return ctypes.c_void_p(sycl_function(_CONTEXT)(ctypes.c_void_p(context.addressof_ref())))


def has_immediate_list(queue: Queue) -> bool:
    """True if a ``dpctl.SyclQueue`` on Level Zero is an immediate command list, and no command queue."""
    return bool(queue_handle(queue)[1])


def flush(queue: Queue) -> None:
    """Make OpenCL pass the commands of a ``dpctl.SyclQueue`` to the device (``clFlush``).

    Raises:
        OpenCLError: the driver does not.
    """
    library, (handle, _) = opencl_library.open_library(), queue_handle(queue)
    try:
        opencl_library.check(library.clFlush(handle))
    finally:
        library.clReleaseCommandQueue(handle)


def queue_handle(queue: Queue) -> tuple[ctypes.c_void_p, int]:
    """A queue's handle, on OpenCL a reference that is to be released, and on Level Zero whether it is a list."""
    kind = ctypes.c_int32()
    handle = sycl_function(_QUEUE)(ctypes.c_void_p(queue.addressof_ref()), ctypes.byref(kind))
    return ctypes.c_void_p(handle), kind.value


def prepare_for_device_copy(address: int, size_bytes: int, context: Context) -> None:
    """Make the driver of a ``dpctl.SyclContext`` import memory of the host; a driver that cannot ends the process."""
    sycl_function(_PREPARE)(
        ctypes.c_void_p(address), ctypes.c_size_t(size_bytes), ctypes.c_void_p(context.addressof_ref())
    )


def release_from_device_copy(address: int, context: Context) -> None:
    """Make the driver release that memory."""
    sycl_function(_RELEASE)(ctypes.c_void_p(address), ctypes.c_void_p(context.addressof_ref()))


def event_of_opencl(handle: ctypes.c_void_p, queue: Queue) -> int:
    """A ``DPCTLSyclEventRef`` for an event of OpenCL; SYCL does not tell its times."""
    return made_by(_EVENT, handle, ctypes.c_void_p(queue.sycl_context.addressof_ref()), OPENCL)


def made_by(name: str, *arguments: Any) -> int:
    """The address of an object that a function of SYCL returns, in memory of C++'s ``new``."""
    made = new_object(_OBJECT)
    sycl_function(name)(ctypes.c_void_p(made), *arguments)
    return made
