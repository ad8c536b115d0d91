"""SPIR-V of kernels in OpenCL C, for back ends that take nothing else: Level Zero is one.

Modules of the suite's own kernels are in an archive. Any other text is compiled by Intel's offline compiler when it is
first built, and kept on disk.
"""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from typing import Final

from numba_sycl.errors import BrokenEnvironment, KernelBuildError
from numba_sycl.spirv_cache import CachedSpirv, SpirvCache
from numba_sycl.sycl_types import Device
from xebench.dpex.errors import NeedsOcloc
from xebench.dpex.foreign_kernel import ForeignCode, ForeignKernel
from xebench.system import PACKAGE
from xebench.system.offline_compiler import NoCompiler, to_spirv

#: A zip with modules of kernels in OpenCL C, named ``DIGEST.spv`` (`foreign_digest`).
ARCHIVE = PACKAGE / "opencl_kernels.zip"
#: Build options of OpenCL C's text, which mean nothing for the SPIR-V that it became.
_OF_THE_TEXT: Final = ("-D", "-I", "-cl-std=")


@dataclass(frozen=True, eq=False)
class OpenclCode(ForeignCode):
    """The text of a kernel in OpenCL C."""

    @property
    def language(self) -> str:
        """See `CompiledKernel.language`."""
        return "opencl"

    @property
    def code(self) -> bytes:
        """See `CompiledKernel.code`."""
        assert self.foreign is not None
        return self.foreign.opencl_c.encode()

    def code_for(self, device: Device, flags: tuple[str, ...]) -> tuple[bytes, str, tuple[str, ...]]:
        """See `CompiledKernel.code_for`.

        Raises:
            NeedsOcloc: the driver does not take OpenCL C, and nothing makes SPIR-V of it here.
            KernelBuildError: ocloc does not take its text.
        """
        if device.backend.name == "opencl":
            return super().code_for(device, flags)
        assert self.foreign is not None
        kept = tuple(flag for flag in flags if not flag.startswith(_OF_THE_TEXT))
        return spirv_of(self.foreign, device), "spirv", kept


def foreign_digest(kernel: ForeignKernel) -> str:
    """The identity of a kernel: its code, and its compiler's options; hexadecimal."""
    told = " ".join(kernel.options.source_flags)
    return hashlib.sha256(f"{kernel.name}\0{told}\0{kernel.opencl_c}\0".encode() + kernel.spirv).hexdigest()


def spirv_of(kernel: ForeignKernel, device: Device) -> bytes:
    """The SPIR-V of a kernel in OpenCL C.

    Raises:
        NeedsOcloc: the archive and the cache lack it, and ocloc is not installed.
        KernelBuildError: ocloc does not take the text.
        BrokenEnvironment: the archive is damaged.
    """
    digest = foreign_digest(kernel)
    if module := _archived(digest):
        return module
    cache = SpirvCache()
    if kept := cache.load(digest):
        return kept.spirv
    try:
        module = to_spirv(kernel.opencl_c, kernel.options.source_flags)
    except NoCompiler as error:
        raise NeedsOcloc(kernel.name, device.backend.name, str(error)) from error
    except ValueError as error:
        raise KernelBuildError(kernel.name, device.name, f"ocloc makes no SPIR-V of it: {error}") from error
    cache.store(digest, CachedSpirv(kernel.name, module))
    return module


def _archived(digest: str) -> bytes | None:
    try:
        with zipfile.ZipFile(ARCHIVE) as archive:
            return archive.read(f"{digest}.spv")
    except KeyError:
        return None
    except (OSError, zipfile.BadZipFile) as error:
        raise BrokenEnvironment(f"{ARCHIVE.name} cannot be read ({error}): install its program again") from error
