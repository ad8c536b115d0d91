"""SPIR-V of kernels in OpenCL C, for back ends that take nothing else: Level Zero is one.

A program may bring modules of its own kernels in an archive (`numba_sycl.additions`). Any other text is compiled by
Intel's offline compiler when it is first built, and kept on disk.
"""

from __future__ import annotations

import zipfile

from numba_sycl import additions
from numba_sycl.errors import BrokenEnvironment, KernelBuildError, NeedsOcloc
from numba_sycl.foreign_kernel import ForeignKernel, foreign_digest
from numba_sycl.offline_compiler import NoCompiler, to_spirv
from numba_sycl.spirv_cache import CachedSpirv, SpirvCache
from numba_sycl.sycl_types import Device


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
    path = additions.opencl_archive
    if path is None:
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(f"{digest}.spv")
    except KeyError:
        return None
    except (OSError, zipfile.BadZipFile) as error:
        raise BrokenEnvironment(f"{path.name} cannot be read ({error}): install its program again") from error
