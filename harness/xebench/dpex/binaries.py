"""The binaries that drivers make of kernels, and digests of the machine code in them."""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from numba_sycl import level_zero_library, opencl_library
from numba_sycl.device_kernel import DeviceKernel
from numba_sycl.level_zero_library import LevelZeroError
from numba_sycl.native_handles import device_handle, kernel_handle
from numba_sycl.opencl_library import OpenCLError
from xebench.system.zebin import is_zebin, zebin_sections

_KERNEL_PROGRAM, _DEVICE_COUNT, _DEVICES, _BINARY_SIZES, _BINARIES = 0x1194, 0x1162, 0x1163, 0x1165, 0x1166

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
    except (OSError, AttributeError, OpenCLError, LevelZeroError):
        return None
    name = built.compiled.name.encode()
    return hashlib.sha256(without_names(binary, name)).hexdigest() if binary else None


def binary_of(built: DeviceKernel) -> bytes:
    """The binary that a driver made of a kernel's module; empty if the back end cannot hand it out.

    Raises:
        OSError, AttributeError, OpenCLError, LevelZeroError: the driver does not hand it out.
    """
    read = _READERS.get(built.device.backend.name)
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


def _ask(query: Any, handle: Any, what: int, answer: Any) -> None:
    """Query a value, or an array of values, of a program or kernel."""
    opencl_library.check(query(handle, what, ctypes.c_size_t(ctypes.sizeof(answer)), ctypes.byref(answer), None))


def _of_level_zero(built: DeviceKernel) -> bytes:
    """Built once more, as a module cannot be had of its kernel."""
    code, _language, flags = built.compiled.code_for(built.device, built.build_options)
    library, check = level_zero_library.open_library(), level_zero_library.check
    with level_zero_library.built_module(library, built.device.name, code, " ".join(flags)) as (status, module, _log):
        check(status)
        size = ctypes.c_size_t()
        check(library.zeModuleGetNativeBinary(module, ctypes.byref(size), None))
        binary = ctypes.create_string_buffer(size.value)
        check(library.zeModuleGetNativeBinary(module, ctypes.byref(size), binary))
    return binary.raw


_READERS: Final[Mapping[str, Callable[[DeviceKernel], bytes]]] = {
    "opencl": _of_opencl,
    "level_zero": _of_level_zero,
}
