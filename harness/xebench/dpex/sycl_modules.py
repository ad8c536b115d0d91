"""SPIR-V of kernels in SYCL C++, by the compiler in the wheel `intel-sycl-rt`; it is kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import re
import time
from dataclasses import replace

from numba_sycl.errors import KernelBuildError
from numba_sycl.signature import CompiledKernel, Signature
from numba_sycl.spirv_cache import CachedSpirv, SpirvCache
from numba_sycl.stacks import installed_version
from numba_sycl.sycl_types import Device
from xebench.dpex.errors import NeedsSyclCompiler
from xebench.dpex.foreign_kernel import ForeignCode, ForeignKernel, required_extents
from xebench.dpex.spirv_facts import EntryPoint, entry_points
from xebench.system.runtime import sycl_headers, sycl_shim

_ENTRY = "__sycl_kernel_{}"
_ERROR = re.compile(r"^\s*\S+?:(\d+):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)
_NO_HEADER = re.compile(r"'(\S+)' file not found")
#: Packages whose headers a text may include.
_PACKAGES = ("intel-sycl-rt", "onedpl-devel")


class _SyclCode(ForeignCode):
    """The module of a kernel in SYCL C++."""

    def code_for(self, device: Device, flags: tuple[str, ...]) -> tuple[bytes, str, tuple[str, ...]]:
        """See `CompiledKernel.code_for`."""
        return CompiledKernel.code_for(self, device, flags)


def compile_sycl(kernel: ForeignKernel, signature: Signature, cache: SpirvCache | None) -> ForeignCode:
    """The SPIR-V of a kernel in SYCL C++.

    Args:
        kernel: kernel in SYCL C++.
        signature: index space and argument types of its launch.
        cache: looked up first and filled after; None compiles.

    Raises:
        NeedsSyclCompiler: there is no compiler here, or no header that the text includes.
        KernelBuildError: it does not take the text.
    """
    versions = [f"{name} {installed_version(name)}" for name in _PACKAGES]
    parts = "\0".join((kernel.name, kernel.sycl, *kernel.sycl_options, *versions))
    key = hashlib.sha256(parts.encode()).hexdigest()
    stored = cache.load(key) if cache else None
    stages = {}
    if stored:
        module = stored.spirv
    else:
        started = time.perf_counter_ns()
        module = _module_of(kernel)
        stages = {"translate": time.perf_counter_ns() - started}
        if cache:
            cache.store(key, CachedSpirv(kernel.name, module))
    entry = _entry(kernel, module)
    extents = required_extents(entry.work_group_size)
    options = replace(kernel.options, sub_group_size=entry.sub_group_size, work_group_size=extents)
    compiler = f"DPC++ of {versions[0]}"
    return _SyclCode(
        entry.name, module, options, signature, stages, cached=stored is not None, compiler=compiler, foreign=kernel
    )


def _module_of(kernel: ForeignKernel) -> bytes:
    try:
        library = sycl_shim.load()
    except sycl_shim.NoShim as error:
        raise NeedsSyclCompiler(kernel.name, str(error)) from None
    size = ctypes.c_size_t()
    options = "\n".join((f"-I{sycl_headers.headers()}", *kernel.sycl_options))
    texts = (kernel.sycl, _ENTRY.format(kernel.name), options)
    found = library.compile_source(*map(str.encode, texts), ctypes.byref(size))
    if not found:
        raise _fault(kernel.name, sycl_shim.last_error(library))
    return ctypes.string_at(found, size.value)


def _fault(name: str, log: str) -> Exception:
    told = [f"line {line}: {what}" for line, what in _ERROR.findall(log)]
    if header := _NO_HEADER.search(" ".join(told)):
        package = "pip install onedpl-devel" if header[1].startswith("oneapi/dpl") else "-I in build_options"
        return NeedsSyclCompiler(name, f"needs the header {header[1]} ({package})")
    return KernelBuildError(name, "any device", "; ".join(told) or log.strip().partition("\n")[0])


def _entry(kernel: ForeignKernel, module: bytes) -> EntryPoint:
    try:
        return next(entry for entry in entry_points(module) if entry.name == _ENTRY.format(kernel.name))
    except (ValueError, StopIteration) as error:
        raise KernelBuildError(kernel.name, "any device", f"the runtime made no SPIR-V of it: {error}") from None
