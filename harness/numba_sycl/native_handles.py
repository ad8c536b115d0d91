"""The C interfaces under SYCL: dpctl's, and handles of OpenCL and Level Zero.

dpctl's Python ``submit`` flattens its arguments at every call and takes no local memory; the C functions
under it take prepared arrays. All of them swallow C++ exceptions and answer a null reference.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any, Final

import dpctl

from numba_sycl import libraries
from numba_sycl.stacks import is_current
from numba_sycl.sycl_types import Device

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

#: ``DPCTLSyclEventStatusType``: the command has finished.
STATUS_COMPLETE = 3

#: The same: neither submitted, running nor finished, so that the driver has given the command up.
STATUS_UNKNOWN = 0

#: ``DPCTLKernelArgType`` of a value, by dtype name.
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

POINTER_CODE = 10
LOCAL_ACCESSOR_CODE = 11


class LocalAccessorLayout(ctypes.Structure):
    """``MDLocalAccessor``: the extents and the element type of a local memory argument."""

    _fields_ = [
        ("ndim", _SIZE),
        ("type_code", ctypes.c_int32),
        ("dim0", _SIZE),
        ("dim1", _SIZE),
        ("dim2", _SIZE),
    ]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (_REF, ctypes.c_char_p, _REF)


def sycl_event_of(reference: int) -> Any:
    """A ``dpctl.SyclEvent`` that owns a copy of ``reference``."""
    return dpctl.SyclEvent(_new_capsule(event_copy(reference), b"SyclEventRef", None))


_KERNEL: Final = "_ZNK4sycl3_V16kernel9getNativeEv"
_DEVICE: Final = "_ZNK4sycl3_V16device9getNativeEv"


def kernel_handle(kernel: Any) -> ctypes.c_void_p:
    """The native handle of a ``dpctl.program.SyclKernel``. On OpenCL it is a reference that the caller releases.

    Raises:
        OSError, AttributeError: this SYCL runtime has no such function; so for all of these.
    """
    return ctypes.c_void_p(sycl_function(_KERNEL)(ctypes.c_void_p(kernel.addressof_ref())))


def device_handle(device: Device) -> ctypes.c_void_p:
    """The native handle of a ``dpctl.SyclDevice``; on Level Zero, where nothing is to be released."""
    return ctypes.c_void_p(sycl_function(_DEVICE)(ctypes.c_void_p(device.addressof_ref())))


def new_object(size_bytes: int) -> int:
    """The address of memory of C++'s ``new``, for what a function returns through an address."""
    address: int = _cpp_new()(size_bytes)
    return address


@functools.cache
def _cpp_new() -> Any:
    new = ctypes.CDLL("libstdc++.so.6")._Znwm
    new.restype, new.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    return new


@functools.cache
def sycl_function(name: str) -> Any:
    """A function of this environment's SYCL runtime by its name there."""
    function = getattr(ctypes.CDLL(str(libraries.sycl_library())), name)
    function.restype = ctypes.c_void_p
    return function
