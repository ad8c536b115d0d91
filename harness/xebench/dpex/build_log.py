"""The driver's own words about a module or a text that it refuses: the build log.

dpctl's interface says only that a build failed. The log is had by building again through OpenCL or Level Zero
themselves, on the failing path only.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from xebench.system.runtime import level_zero_library, opencl_library
from xebench.system.sycl_types import Device

_BUILD_LOG = 0x1183
_MOST_CHARACTERS = 400
NO_REASON: Final = "the driver gave no reason"
_TELLING = re.compile(r"error|fail|not found|undefined|unrecogni|unsupported|invalid", re.IGNORECASE)
# of OpenCL C: a number for the text, its line and column
_CLANG_ERROR = re.compile(r"\S+?:(?P<line>\d+):\d+: (?:fatal )?error: ")


@contextmanager
def _program(library: Any, device: opencl_library.Handle, code: bytes, language: str) -> Iterator[Any]:
    status = ctypes.c_int()
    devices = (opencl_library.Handle * 1)(device)
    context = opencl_library.Handle(library.clCreateContext(None, 1, devices, None, None, ctypes.byref(status)))
    opencl_library.check(status.value)
    try:
        size = ctypes.c_size_t(len(code))
        if language == "opencl":
            text = (ctypes.c_char_p * 1)(code)
            created = library.clCreateProgramWithSource(context, 1, text, ctypes.byref(size), ctypes.byref(status))
        else:
            created = library.clCreateProgramWithIL(context, code, size, ctypes.byref(status))
        program = opencl_library.Handle(created)
        opencl_library.check(status.value)
        try:
            yield program
        finally:
            library.clReleaseProgram(program)
    finally:
        library.clReleaseContext(context)


def _opencl_log(code: bytes, language: str, device: Device, options: str) -> str:
    library = opencl_library.open_library()
    handle = opencl_library.find_device(library, device.name, device.driver_version)
    with _program(library, handle, code, language) as program:
        status = library.clBuildProgram(program, 1, (opencl_library.Handle * 1)(handle), options.encode(), None, None)
        log = opencl_library.text(library.clGetProgramBuildInfo, program, handle, _BUILD_LOG)
    return _summary(log) or f"OpenCL error {status}"


def _level_zero_log(code: bytes, language: str, device: Device, options: str) -> str:
    del language  # SPIR-V is all that it takes
    return _summary(level_zero_library.build_log(level_zero_library.open_library(), device.name, code, options))


_READERS: Final[Mapping[str, Callable[[bytes, str, Any, str], str]]] = {
    "opencl": _opencl_log,
    "level_zero": _level_zero_log,
}


def _summary(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [_CLANG_ERROR.sub(r"line \g<line>: ", line) for line in lines if _CLANG_ERROR.match(line)]
    told = errors or [line for line in lines if _TELLING.search(line)] or lines
    return "; ".join(dict.fromkeys(told))  # Level Zero says it once for each try to build it


def driver_reason(code: bytes, language: str, device: Device, options: str) -> str:
    """What the driver of a ``dpctl.SyclDevice`` says about code that it does not build, on one line.

    Args:
        code: SPIR-V, or text in OpenCL C where ``language`` is "opencl".
        device: whose driver was asked.
        options: that it was given.
    """
    read = _READERS.get(device.backend.name)
    if read is None:
        return NO_REASON
    try:
        return read(code, language, device, options)[:_MOST_CHARACTERS] or NO_REASON
    except (OSError, AttributeError, opencl_library.OpenCLError, level_zero_library.LevelZeroError) as error:
        return f"{NO_REASON} ({error})"
