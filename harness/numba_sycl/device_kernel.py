"""SPIR-V or OpenCL C to a kernel of a device, by the device's driver: the driver's own words when it refuses.

dpctl's interface says only that a build failed. The log is had by building again through OpenCL or Level Zero
themselves, on the failing path only.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import dpctl
import dpctl.program

from numba_sycl import level_zero_library, opencl_library
from numba_sycl.errors import KernelBuildError
from numba_sycl.native_handles import device_handle, kernel_handle
from numba_sycl.signature import CompiledKernel
from numba_sycl.sycl_types import Device, Queue

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
    if not (summary := _summary(log)):
        opencl_library.check(status)
    return summary


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
    return "; ".join(dict.fromkeys(told))  # Level Zero repeats it for each try to build


def driver_reason(code: bytes, language: str, device: Device, options: str) -> str:
    """The message of a ``dpctl.SyclDevice``'s driver about code that it does not build, on one line.

    Args:
        code: SPIR-V, or text in OpenCL C where ``language`` is "opencl".
        device: the device of that driver.
        options: options that it was given.
    """
    read = _READERS.get(device.backend.name)
    if read is None:
        return NO_REASON
    try:
        return read(code, language, device, options)[:_MOST_CHARACTERS] or NO_REASON
    except (OSError, AttributeError, opencl_library.OpenCLError, level_zero_library.LevelZeroError) as error:
        return f"{NO_REASON} ({error})"


@dataclass(frozen=True, eq=False)
class DeviceKernel:
    """A kernel built by the driver of one device, in one context.

    Attributes:
        compiled: compiled kernel that it was built from.
        kernel: the ``dpctl.program.SyclKernel``.
        device: the ``dpctl.SyclDevice``.
        context: the ``dpctl.SyclContext``; queues and arrays of other contexts do not fit.
        stages: {"build": ns}.
        build_options: options given to the driver's compiler.
        ignored_options: names of options that this device ignores.
    """

    compiled: CompiledKernel
    kernel: Any = field(repr=False)
    device: Any = field(repr=False)
    context: Any = field(repr=False)
    stages: dict[str, int]
    build_options: tuple[str, ...] = ()
    ignored_options: tuple[str, ...] = ()

    @property
    def sub_group_size(self) -> int | None:
        """The sub-group size that the kernel requires, or None when the driver chooses it at launch."""
        return self.compiled.options.sub_group_size

    @property
    def max_sub_group_size(self) -> int | None:
        """The largest sub-group it runs with: on Intel's GPUs the SIMD width that the driver compiled it for.

        None if the driver has no such query, as for `max_work_group_size`.
        """
        return (int(self.kernel.max_sub_group_size) or None) if self._answers else None

    @cached_property
    def max_work_group_size(self) -> int | None:
        """The largest work-group that this kernel can run with on its device; None if the driver has no such query."""
        return int(self.kernel.work_group_size) if self._answers else None

    @property
    def _answers(self) -> bool:
        """True if dpctl would query this device: it queries the first device of the context.

        For a device that the kernel was not built for, a driver may refuse, and the C++ exception ends the process.
        """
        return bool(self.context.get_devices()[0] == self.device)


def build(compiled: CompiledKernel, queue: Queue) -> DeviceKernel:
    """Build a kernel with the driver of the queue's device.

    Raises:
        UnsupportedByDevice: the kernel requires a sub-group size or work-group size that the device lacks.
        KernelBuildError: the driver refused it.
    """
    device = queue.sycl_device
    compiled.options.check_device(compiled.name, device)
    flags, ignored = compiled.options.flags_for(device)
    code, language, flags = compiled.code_for(device, flags)
    text = " ".join(flags)
    started = time.perf_counter_ns()
    try:
        if language == "opencl":
            program = dpctl.program.create_program_from_source(queue, code.decode(), text)
        else:
            program = dpctl.program.create_program_from_spirv(queue, code, text)
    except dpctl.program.SyclProgramCompilationError as error:
        reason = driver_reason(code, language, device, text)
        raise KernelBuildError(compiled.name, device.name, reason) from error
    if not program.has_sycl_kernel(compiled.name):
        raise KernelBuildError(compiled.name, device.name, "the built program does not contain the kernel")
    kernel = program.get_sycl_kernel(compiled.name)
    stages = {"build": time.perf_counter_ns() - started}
    return DeviceKernel(compiled, kernel, device, queue.sycl_context, stages, flags, ignored)


def separate_context(device: Device) -> Any:
    """A new ``dpctl.SyclContext`` of its own for ``device``.

    ``dpctl.SyclContext(device)`` answers the device's cached default context, so two contexts made that way are
    one; a context of a list of devices is always new.
    """
    return dpctl.SyclContext([device])


_LOCAL_BYTES: Final = 0x11B2


def declared_local_bytes(built: DeviceKernel) -> int:
    """The shared local memory that a kernel declares itself; 0 where only the driver has it."""
    if built.device.backend.name != "opencl":
        return 0
    library, kernel, device = opencl_library.open_library(), kernel_handle(built.kernel), device_handle(built.device)
    size = ctypes.c_uint64()
    try:
        library.clGetKernelWorkGroupInfo(kernel, device, _LOCAL_BYTES, ctypes.c_size_t(8), ctypes.byref(size), None)
    finally:
        library.clReleaseKernel(kernel)
        library.clReleaseDevice(device)
    return size.value
