"""OpenCL itself, by ctypes: for the few things that SYCL and dpctl do not offer."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Final

_DEVICE_NAME, _DRIVER_VERSION = 0x102B, 0x102D
_DEVICE_TYPE_ALL = 0xFFFFFFFF
_CREATORS: Final = (
    *("clCreateContext", "clCreateKernel"),
    *("clCreateProgramWithIL", "clCreateProgramWithSource", "clCreateProgramWithBinary"),
)

Handle = ctypes.c_void_p


class OpenCLError(Exception):
    """A call failed, or there is no such device."""


def check(status: int) -> None:
    """Raise OpenCLError for a status that is not CL_SUCCESS."""
    if status:
        raise OpenCLError(f"OpenCL error {status}")


@functools.cache
def open_library() -> Any:
    """The loader's library.

    Raises:
        OSError: there is none.
    """
    library = ctypes.CDLL("libOpenCL.so.1")
    for name in _CREATORS:
        getattr(library, name).restype = Handle
    return library


def handles(query: Any, *before: Any) -> list[Any]:
    """The list that a function such as ``clGetPlatformIDs`` returns."""
    count = ctypes.c_uint()
    check(query(*before, 0, None, ctypes.byref(count)))
    found = (Handle * count.value)()
    check(query(*before, count, found, None))
    return [Handle(handle) for handle in found]


def text(query: Any, *before: Any) -> str:
    """The text that a function such as ``clGetDeviceInfo`` returns."""
    size = ctypes.c_size_t()
    check(query(*before, ctypes.c_size_t(0), None, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    check(query(*before, size, buffer, None))
    return buffer.value.decode(errors="replace")


def find_device(library: Any, name: str, driver_version: str | None) -> Any:
    """The device of a name and, where it is given, of a driver's version.

    Raises:
        OpenCLError: there is none.
    """
    wanted = [name.strip(), *([driver_version.strip()] if driver_version else [])]
    for platform in handles(library.clGetPlatformIDs):
        for device in handles(library.clGetDeviceIDs, platform, ctypes.c_uint64(_DEVICE_TYPE_ALL)):
            about = [text(library.clGetDeviceInfo, device, what).strip() for what in (_DEVICE_NAME, _DRIVER_VERSION)]
            if about[: len(wanted)] == wanted:
                return device
    raise OpenCLError("the device is not found through OpenCL")
