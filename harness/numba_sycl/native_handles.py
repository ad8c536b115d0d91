"""The C interfaces under SYCL: dpctl's, handles of OpenCL and Level Zero, and a driver's own binaries.

dpctl's Python ``submit`` flattens its arguments at every call and takes no local memory; the C functions
under it take prepared arrays. All of them swallow C++ exceptions and answer a null reference.

The binary is loaded by OpenCL or Level Zero, and SYCL is given the kernel, by the functions that its own headers call.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any, Final

import dpctl
import dpctl.program._program as dpctl_program

from numba_sycl import level_zero_library, libraries, opencl_library
from numba_sycl.stacks import is_current
from numba_sycl.sycl_types import Context, Device, Queue

# the very file that dpctl's own modules have loaded: the pinned stack's wheel has copies under shorter names
_NAME = "libDPCTLSyclInterface.so" if is_current() else "libDPCTLSyclInterface.so.0"

_library = ctypes.CDLL(str(Path(dpctl.__file__).parent / _NAME))


def bind(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(_library, name)
    function.restype = result
    function.argtypes = arguments
    return function


_REF = ctypes.c_void_p

_SIZE = ctypes.c_size_t

# The two submit functions have no argtypes: launch.py passes ctypes objects that it made once.
submit_range = _library.DPCTLQueue_SubmitRange

submit_range.restype = _REF

submit_nd_range = _library.DPCTLQueue_SubmitNDRange

submit_nd_range.restype = _REF

event_wait = bind("DPCTLEvent_Wait", None, _REF)

event_delete = bind("DPCTLEvent_Delete", None, _REF)

event_copy = bind("DPCTLEvent_Copy", _REF, _REF)

event_status = bind("DPCTLEvent_GetCommandExecutionStatus", ctypes.c_int, _REF)

event_submit_ns = bind("DPCTLEvent_GetProfilingInfoSubmit", ctypes.c_uint64, _REF)

event_start_ns = bind("DPCTLEvent_GetProfilingInfoStart", ctypes.c_uint64, _REF)

event_end_ns = bind("DPCTLEvent_GetProfilingInfoEnd", ctypes.c_uint64, _REF)

kernel_delete = bind("DPCTLKernel_Delete", None, _REF)

kernel_bundle_delete = bind("DPCTLKernelBundle_Delete", None, _REF)

free_with_queue = bind("DPCTLfree_with_queue", None, _REF, _REF)

STATUS_COMPLETE = 3

"""``DPCTLSyclEventStatusType``: the command has finished."""

STATUS_UNKNOWN = 0

"""The same: neither submitted, running nor finished, so that the driver has given the command up."""

ARGUMENT_CODES = {
    "int8": 0,
    "bool": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 3,
    "int32": 4,
    "uint32": 5,
    "int64": 6,
    "uint64": 7,
    "float32": 8,
    "float64": 9,
}

"""``DPCTLKernelArgType`` of a value, by dtype name."""

POINTER_CODE = 10

LOCAL_ACCESSOR_CODE = 11

STREAM_CODES = (12, *[13] * 12)

"""The same of a ``sycl::stream``, which is 13 arguments; only our own shim takes it."""


class LocalAccessorLayout(ctypes.Structure):
    """``MDLocalAccessor``: the extents and the element type of a local memory argument."""

    _fields_ = [
        ("ndim", _SIZE),
        ("type_code", ctypes.c_int32),
        ("dim0", _SIZE),
        ("dim1", _SIZE),
        ("dim2", _SIZE),
    ]


class Stream(ctypes.Structure):
    """A ``sycl::stream`` of a launch: bytes of all that it prints, and of the longest statement."""

    _fields_ = [("bytes", _SIZE), ("statement_bytes", _SIZE)]


_new_capsule = ctypes.pythonapi.PyCapsule_New

_new_capsule.restype = ctypes.py_object

_new_capsule.argtypes = (_REF, ctypes.c_char_p, _REF)


def sycl_event_of(reference: int) -> Any:
    """A ``dpctl.SyclEvent`` that owns a copy of ``reference``."""
    return dpctl.SyclEvent(_new_capsule(event_copy(reference), b"SyclEventRef", None))


_KERNEL: Final = "_ZNK4sycl3_V16kernel9getNativeEv"

_DEVICE: Final = "_ZNK4sycl3_V16device9getNativeEv"

_CONTEXT: Final = "_ZNK4sycl3_V17context9getNativeEv"

_QUEUE: Final = "_ZNK4sycl3_V15queue9getNativeERi"

_EXPERIMENTAL: Final = "_ZN4sycl3_V13ext6oneapi12experimental"

_PREPARE: Final = f"{_EXPERIMENTAL}23prepare_for_device_copyEPKvmRKNS0_7contextE"

_RELEASE: Final = f"{_EXPERIMENTAL}24release_from_device_copyEPKvRKNS0_7contextE"


def kernel_handle(kernel: Any) -> ctypes.c_void_p:
    """The native handle of a ``dpctl.program.SyclKernel``. On OpenCL it is a reference that the caller releases.

    Raises:
        OSError, AttributeError: this SYCL runtime has no such function; so for all of these.
    """
    return ctypes.c_void_p(sycl_function(_KERNEL)(ctypes.c_void_p(kernel.addressof_ref())))


def device_handle(device: Device) -> ctypes.c_void_p:
    """The native handle of a ``dpctl.SyclDevice``; on Level Zero, where nothing is to be released."""
    return ctypes.c_void_p(sycl_function(_DEVICE)(ctypes.c_void_p(device.addressof_ref())))


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


_EVENT: Final = "_ZN4sycl3_V16detail10make_eventEmRKNS0_7contextENS0_7backendE"


def event_of_opencl(handle: ctypes.c_void_p, queue: Queue) -> int:
    """A ``DPCTLSyclEventRef`` for an event of OpenCL; SYCL does not tell its times."""
    return _made_by(_EVENT, handle, ctypes.c_void_p(queue.sycl_context.addressof_ref()), _OPENCL)


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


_MAKE_BUNDLE: Final = "_ZN4sycl3_V16detail18make_kernel_bundleEmRKNS0_7contextEbNS0_12bundle_stateENS0_7backendE"

_MAKE_OF_BUNDLE: Final = (
    "_ZN4sycl3_V16detail11make_kernelERKNS0_7contextERKNS0_13kernel_bundleILNS0_12bundle_stateE2EEEmbNS0_7backendE"
)

_MAKE: Final = "_ZN4sycl3_V16detail11make_kernelEmRKNS0_7contextENS0_7backendE"

_OPENCL, _LEVEL_ZERO, _EXECUTABLE = 1, 2, 2  # sycl::backend, sycl::bundle_state
#: Bytes of a ``sycl::kernel`` and of its bundle, each a shared pointer, which C++ returns through an address.
_OBJECT: Final = 16


def kernel_of_binary(binary: bytes, name: str, queue: Queue) -> Any:
    """Load a binary, as ``dpctl.program`` builds SPIR-V.

    Args:
        binary: binary for the queue's device, as from `native_code.binary_of`.
        name: name of the kernel.
        queue: queue in whose context to load it, on OpenCL or Level Zero.

    Returns:
        A ``dpctl.program.SyclKernel``.

    Raises:
        OSError, AttributeError: this SYCL runtime lacks what it takes.
        OpenCLError, LevelZeroError: the driver refuses the binary.
    """
    load = _on_opencl if queue.sycl_device.backend.name == "opencl" else _on_level_zero
    made = load(binary, name.encode(), queue)
    try:
        return _copy_of_dpctl(made, name)
    finally:
        kernel_delete(made)


def _on_opencl(binary: bytes, name: bytes, queue: Queue) -> int:
    library = opencl_library.open_library()
    device, context = device_handle(queue.sycl_device), context_handle(queue.sycl_context)
    try:
        program, kernel = opencl_library.load_kernel(library, context, device, binary, name)
    finally:
        library.clReleaseContext(context)
        library.clReleaseDevice(device)
    made = _made_by(_MAKE, kernel, ctypes.c_void_p(queue.sycl_context.addressof_ref()), _OPENCL)
    library.clReleaseKernel(kernel)
    library.clReleaseProgram(program)
    return made


def _on_level_zero(binary: bytes, name: bytes, queue: Queue) -> int:
    library = level_zero_library.open_library()
    device, context = device_handle(queue.sycl_device), context_handle(queue.sycl_context)
    module, kernel = level_zero_library.load_kernel(library, context, device, binary, name)
    of_sycl = ctypes.c_void_p(queue.sycl_context.addressof_ref())
    bundle = _made_by(_MAKE_BUNDLE, module, of_sycl, 0, _EXECUTABLE, _LEVEL_ZERO)  # which owns them from now on
    try:
        return _made_by(_MAKE_OF_BUNDLE, of_sycl, ctypes.c_void_p(bundle), kernel, 0, _LEVEL_ZERO)
    finally:
        kernel_bundle_delete(bundle)


def _made_by(name: str, *arguments: Any) -> int:
    """The address of an object that a function of SYCL returns, in memory of C++'s ``new``."""
    made = new_object(_OBJECT)
    sycl_function(name)(ctypes.c_void_p(made), *arguments)
    return made


def _copy_of_dpctl(kernel: int, name: str) -> Any:
    """The object of dpctl around a copy of SYCL's own."""
    api = dpctl_program.__pyx_capi__["SyclKernel_Make"]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p)(get_pointer(api, get_name(api)))
    return make(kernel, name.encode())
