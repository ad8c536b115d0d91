"""SPIR-V or OpenCL C to a kernel of a device, by the device's driver: the driver's own words when it refuses, and the
machine code when it does not.

dpctl's interface says only that a build failed. The log is had by building again through OpenCL or Level Zero
themselves, on the failing path only.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import dpctl
import dpctl.program

from numba_sycl import level_zero_library, opencl_library
from numba_sycl.errors import KernelBuildError, Unsupported
from numba_sycl.level_zero_library import LevelZeroError
from numba_sycl.native_handles import device_handle, kernel_handle, kernel_of_binary
from numba_sycl.opencl_library import OpenCLError
from numba_sycl.opencl_modules import spirv_of
from numba_sycl.signature import CompiledKernel
from numba_sycl.spirv_module import without_assumptions
from numba_sycl.sycl_types import Device, Queue
from numba_sycl.zebin import is_zebin, zebin_sections

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


#: Build options of OpenCL C's text, which mean nothing for the SPIR-V that it became.
_OF_THE_TEXT = ("-D", "-I", "-cl-std=")


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

    @property
    def max_work_group_size(self) -> int | None:
        """The largest work-group that this kernel can run with on its device; None if the driver has no such query."""
        return int(self.kernel.work_group_size) if self._answers else None

    @property
    def _answers(self) -> bool:
        """True if dpctl would query this device: it queries the first device of the context.

        For a device that the kernel was not built for, a driver may refuse, and the C++ exception ends the process.
        """
        return bool(self.context.get_devices()[0] == self.device)


def module_of(compiled: CompiledKernel, device: Device, flags: tuple[str, ...]) -> tuple[bytes, str, tuple[str, ...]]:
    """The parts of a kernel for a device's driver: the code, its language, and the flags that apply.

    Raises:
        NeedsOcloc: it is in OpenCL C, which the driver does not take, and nothing makes SPIR-V of it here.
        KernelBuildError: ocloc does not take its text.
    """
    code, language = compiled.code, compiled.language
    if language == "opencl" and device.backend.name != "opencl":
        assert compiled.foreign
        code, language = spirv_of(compiled.foreign, device), "spirv"
        flags = tuple(flag for flag in flags if not flag.startswith(_OF_THE_TEXT))
    if (not compiled.foreign or compiled.foreign.sycl) and "intel" not in device.vendor.lower():
        code = without_assumptions(code)
    return code, language, flags


def build(compiled: CompiledKernel, queue: Queue) -> DeviceKernel:
    """Build a kernel with the driver of the queue's device.

    Raises:
        UnsupportedByDevice: the kernel requires a sub-group size or work-group size that the device lacks.
        KernelBuildError: the driver refused it.
        NeedsOcloc: it is in OpenCL C, which the driver does not take, and nothing makes SPIR-V of it here.
    """
    device = queue.sycl_device
    compiled.options.check_device(compiled.name, device)
    flags, ignored = compiled.options.flags_for(device)
    code, language, flags = module_of(compiled, device, flags)
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


def load(built: DeviceKernel, binary: bytes, queue: Queue) -> DeviceKernel:
    """A kernel again, in the context of a queue, from the binary that the driver made of it for the queue's device.

    Raises:
        KernelBuildError: the driver refused it.
        Unsupported: this SYCL runtime cannot be given what a driver has loaded.
    """
    started = time.perf_counter_ns()
    try:
        kernel = kernel_of_binary(binary, built.compiled.name, queue)
    except (OSError, AttributeError) as error:
        reason = str(error).rpartition("/")[2]
        raise Unsupported(f"needs a SYCL runtime that takes a kernel from its driver: {reason}") from error
    except (OpenCLError, LevelZeroError) as error:
        reason = f"its binary cannot be loaded: {error}"
        raise KernelBuildError(built.compiled.name, built.device.name, reason) from error
    stages = {"build": time.perf_counter_ns() - started}
    return replace(built, kernel=kernel, context=queue.sycl_context, stages=stages)


def separate_context(device: Device) -> Any:
    """A new ``dpctl.SyclContext`` of its own for ``device``.

    ``dpctl.SyclContext(device)`` answers the device's cached default context, so two contexts made that way are
    one; a context of a list of devices is always new.
    """
    return dpctl.SyclContext([device])


_KERNEL_PROGRAM, _DEVICE_COUNT, _DEVICES, _BINARY_SIZES, _BINARIES = 0x1194, 0x1162, 0x1163, 0x1165, 0x1166
_LOCAL_BYTES = 0x11B2

#: Sections that equal code may differ in: the source's SPIR-V or IR, offsets of names, and what is for tools alone.
_ASIDE: Final = (".spv", ".ocl.ir", ".ocl.meta", ".symtab", ".gtpin", ".debug", ".misc")

#: What Intel's compiler puts after the end of a program: moves of a hash of its source to nowhere, and zeros.
_SOURCE_HASH: Final = re.compile(rb"(?:\x61\x00.\x80\x20\x42\x01\x00{5}.{4}){1,4}\x00*\Z", re.DOTALL)


def native_code(built: DeviceKernel) -> str | None:
    """A digest of a kernel's machine code and of what describes it to the driver, SIMD width and registers included.

    None where the driver does not hand out its binary.
    """
    try:
        binary = binary_of(built)
    except (OSError, AttributeError, opencl_library.OpenCLError, level_zero_library.LevelZeroError):
        return None
    name = built.compiled.name.encode()
    return hashlib.sha256(without_names(binary, name)).hexdigest() if binary else None


def binary_of(built: DeviceKernel) -> bytes:
    """The binary that a driver made of a kernel's module; empty if the back end cannot hand it out.

    Raises:
        OSError, AttributeError, OpenCLError, LevelZeroError: the driver does not hand it out.
    """
    read = _BINARY_READERS.get(built.device.backend.name)
    return read(built) if read else b""


def without_names(binary: bytes, name: bytes) -> bytes:
    """A binary without the kernel's name and everything that is not code.

    Args:
        binary: an ELF file, of which some sections are ELF files again; all else is taken as it is.
        name: name of the kernel.
    """
    if not is_zebin(binary):
        return binary.replace(name, b"")
    parts = zebin_sections(binary).items()
    kept = [(section, content) for section, content in parts if not section.startswith(_ASIDE)]
    return b"\n".join(
        section.encode().replace(name, b"") + without_names(_SOURCE_HASH.sub(b"", content), name)
        for section, content in kept
    )


def _of_opencl(built: DeviceKernel) -> bytes:
    library, kernel, device = opencl_library.open_library(), kernel_handle(built.kernel), device_handle(built.device)
    try:
        program, count = opencl_library.Handle(), ctypes.c_uint32()
        _ask(library.clGetKernelInfo, kernel, _KERNEL_PROGRAM, program)
        _ask(library.clGetProgramInfo, program, _DEVICE_COUNT, count)
        # a program has a binary for each device of its context, and some drivers hand out all of them or none
        devices, sizes = (ctypes.c_void_p * count.value)(), (ctypes.c_size_t * count.value)()
        _ask(library.clGetProgramInfo, program, _DEVICES, devices)
        _ask(library.clGetProgramInfo, program, _BINARY_SIZES, sizes)
        buffers = [ctypes.create_string_buffer(int(size)) for size in sizes]
        binaries = (ctypes.c_void_p * count.value)(*map(ctypes.addressof, buffers))
        _ask(library.clGetProgramInfo, program, _BINARIES, binaries)
    finally:
        library.clReleaseKernel(kernel)
        library.clReleaseDevice(device)
    return buffers[[*devices].index(device.value)].raw


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


def _ask(query: Any, handle: Any, what: int, answer: Any) -> None:
    """Query a value, or an array of values, of a program or kernel."""
    opencl_library.check(query(handle, what, ctypes.c_size_t(ctypes.sizeof(answer)), ctypes.byref(answer), None))


def _of_level_zero(built: DeviceKernel) -> bytes:
    """Built once more, as a module cannot be had of its kernel."""
    code, _language, flags = module_of(built.compiled, built.device, built.build_options)
    library = level_zero_library.open_library()
    return level_zero_library.native_binary(library, built.device.name, code, " ".join(flags))


_BINARY_READERS: Final[Mapping[str, Callable[[DeviceKernel], bytes]]] = {
    "opencl": _of_opencl,
    "level_zero": _of_level_zero,
}
