"""Kernels where numba-dpex is not installed: shipped, kept by an earlier process, or compiled by our own target.

numba is imported in the last case only.
"""

from __future__ import annotations

import hashlib
import importlib.util
import time
from typing import Any, Final

from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.decorators import options_of
from xebench.dpex.dpex_errors import NotShipped
from xebench.dpex.identity import UnknownIdentity, shipped_key
from xebench.dpex.shipped import find_shipped
from xebench.dpex.signature import Signature
from xebench.dpex.spirv_cache import SpirvCache
from xebench.dpex.toolchain import toolchain

#: What decides, beside this package, what a kernel becomes.
PACKAGES: Final = ("numba", "llvmlite")


def find_or_compile(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """The SPIR-V of a kernel.

    Args:
        kernel: made by ``xebench.dpex.kernel``.
        signature: what to compile it for.
        cache: looked up, and filled with what is compiled; None: neither.

    Raises:
        KernelCompileError: it cannot be compiled.
        NotShipped: numba is not installed, and no pack has the kernel.
        ArgumentError: it is no kernel.
    """
    try:
        return find_shipped(kernel, signature)
    except NotShipped:
        if importlib.util.find_spec("numba") is None:
            raise
    return compile_here(kernel, signature, cache)


def compile_here(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """`find_or_compile`, whatever was shipped."""
    started = time.perf_counter_ns()
    key = _fingerprint(kernel, signature) if cache else None
    stored = cache.load(key) if cache and key else None
    if stored:
        stages = {"typing": time.perf_counter_ns() - started}
        return CompiledKernel(*stored, options_of(kernel), signature, stages, cached=True)
    from xebench.dpex.numba_target.compile import compile_to_spirv

    compiled = compile_to_spirv(kernel, signature)
    if cache and key:
        cache.store(key, compiled.name, compiled.spirv)
    return compiled


def _fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of a compilation, or None when it cannot be told."""
    try:
        key = shipped_key(kernel, signature)
    except UnknownIdentity:
        return None
    return hashlib.sha256(f"{key} {toolchain(*PACKAGES)}".encode()).hexdigest()
