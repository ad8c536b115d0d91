"""The machine code that a driver made of a kernel, without the names in it: equal code has equal digests."""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from xebench.dpex.device_kernel import DeviceKernel, module_of
from xebench.dpex.native_handles import kernel_handle
from xebench.system.runtime import elf, level_zero_library, opencl_library

_KERNEL_PROGRAM, _BINARY_SIZES, _BINARIES = 0x1194, 0x1165, 0x1166

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
    read = _READERS.get(built.device.backend.name)
    return read(built) if read else b""


def without_names(binary: bytes, name: bytes) -> bytes:
    """The rest of a binary without the kernel's name and everything that is no code.

    Args:
        binary: an ELF file, of which some sections are ELF files again; all else is taken as it is.
        name: of the kernel.
    """
    if not elf.is_zebin(binary):
        return binary.replace(name, b"")
    parts = elf.sections(binary).items()
    kept = [(section, content) for section, content in parts if not section.startswith(_ASIDE)]
    return b"\n".join(
        section.encode().replace(name, b"") + without_names(_SOURCE_HASH.sub(b"", content), name)
        for section, content in kept
    )


def _of_opencl(built: DeviceKernel) -> bytes:
    library, kernel = opencl_library.open_library(), kernel_handle(built.kernel)
    try:
        program, size = opencl_library.Handle(), ctypes.c_size_t()
        _ask(library.clGetKernelInfo, kernel, _KERNEL_PROGRAM, program)
        _ask(library.clGetProgramInfo, program, _BINARY_SIZES, size)
        binary = ctypes.create_string_buffer(size.value)
        _ask(library.clGetProgramInfo, program, _BINARIES, ctypes.c_void_p(ctypes.addressof(binary)))
    finally:
        library.clReleaseKernel(kernel)
    return binary.raw


def _ask(query: Any, handle: Any, what: int, answer: Any) -> None:
    """One value of a program of one device."""
    opencl_library.check(query(handle, what, ctypes.c_size_t(ctypes.sizeof(answer)), ctypes.byref(answer), None))


def _of_level_zero(built: DeviceKernel) -> bytes:
    """Built once more, as a module cannot be had of its kernel."""
    code, _language, flags = module_of(built.compiled, built.device, built.build_options)
    library = level_zero_library.open_library()
    return level_zero_library.native_binary(library, built.device.name, code, " ".join(flags))


_READERS: Final[Mapping[str, Callable[[DeviceKernel], bytes]]] = {
    "opencl": _of_opencl,
    "level_zero": _of_level_zero,
}
