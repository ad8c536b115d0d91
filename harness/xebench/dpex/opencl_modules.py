"""SPIR-V of kernels in OpenCL C, for back ends that take nothing else: Level Zero is one.

The modules of the project's own kernels come with it, in an archive (`make opencl-kernels`). Any other text is compiled
by Intel's offline compiler when it is first built, and kept on disk.
"""

from __future__ import annotations

import zipfile
from typing import Final

from xebench.dpex.dpex_errors import KernelBuildError, NeedsOcloc
from xebench.dpex.foreign_kernel import ForeignKernel, foreign_digest
from xebench.dpex.spirv_cache import CachedSpirv, SpirvCache
from xebench.errors import BrokenEnvironment
from xebench.system import PACKAGE
from xebench.system.offline_compiler import NoCompiler, to_spirv
from xebench.system.sycl_types import Device

#: A zip with a module for each of the project's kernels in OpenCL C, named ``DIGEST.spv`` (`foreign_digest`).
ARCHIVE: Final = PACKAGE / "opencl_kernels.zip"


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
        raise BrokenEnvironment(f"{ARCHIVE.name} cannot be read ({error}): install xebench again") from error
