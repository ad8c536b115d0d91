"""Kernels where numba-dpex is not installed: shipped, kept by an earlier process, or compiled by our own target.

numba is imported in the last case only.
"""

from __future__ import annotations

import hashlib
import importlib.util
import time
from importlib import metadata
from typing import Any, Final

from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.decorators import options_of
from xebench.dpex.dpex_errors import NotShipped
from xebench.dpex.identity import UnknownIdentity, shipped_key
from xebench.dpex.shipped import find_shipped
from xebench.dpex.signature import Signature, not_a_kernel
from xebench.dpex.source_kernel import SourceKernel
from xebench.dpex.spirv_cache import SpirvCache
from xebench.dpex.toolchain import OWN, this_compiler, toolchain
from xebench.errors import BrokenEnvironment

_TOO_OLD: Final = tuple(f"0.{minor}." for minor in range(62))
_INSTALL: Final = "run python -m pip install numba"


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
    overloads = getattr(kernel, "overloads", ())
    if overloads and not any(overload.serves(signature) for overload in overloads):
        raise _not_among(overloads, kernel, signature)
    try:
        return find_shipped(kernel, signature)
    except NotShipped:
        if not has_compiler():
            raise
    return compile_here(kernel, signature, cache)


def compile_here(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """`find_or_compile`, whatever was shipped.

    Raises:
        KernelCompileError: it cannot be compiled.
        BrokenEnvironment: numba is not installed, or too old.
        ArgumentError: it is no kernel.
    """
    started = time.perf_counter_ns()
    if not isinstance(kernel, SourceKernel):
        raise not_a_kernel(kernel)
    key = _fingerprint(kernel, signature) if cache else None
    stored = cache.load(key) if cache and key else None
    if stored:
        stages = {"typing": time.perf_counter_ns() - started}
        name, spirv, narrow = stored
        return CompiledKernel(
            name,
            spirv,
            options_of(kernel),
            signature,
            stages,
            cached=True,
            compiler=this_compiler(),
            narrow=narrow,
        )
    _require_compiler()
    from xebench.dpex.numba_target.compile import compile_to_spirv

    compiled = compile_to_spirv(kernel, signature)
    if cache and key:
        cache.store(key, compiled.name, compiled.spirv, compiled.narrow)
    return compiled


def _require_compiler() -> None:
    if not has_compiler():
        raise BrokenEnvironment(f"numba compiles kernels, and is not installed: {_INSTALL}")
    if (version := metadata.version("numba")).startswith(_TOO_OLD):  # which the pinned stack has on Python 3.11
        raise BrokenEnvironment(f"numba {version} cannot compile kernels: {_INSTALL} --upgrade")


def has_compiler() -> bool:
    """Whether there is numba, which is not imported to find out."""
    return importlib.util.find_spec("numba") is not None


def _not_among(overloads: tuple[Signature, ...], kernel: Any, signature: Signature) -> Exception:
    from xebench.dpex.numba_target.compile import KernelTypingError

    code, named = kernel.py_func.__code__, " and ".join(map(str, overloads))
    reason = f"its decorator names {named}, but it is launched with {signature}"
    return KernelTypingError(kernel.py_func.__name__, f"{code.co_filename}:{code.co_firstlineno}", reason)


def _fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of a compilation, or None when it cannot be told."""
    try:
        key = shipped_key(kernel, signature)
    except UnknownIdentity:
        return None
    return hashlib.sha256(f"{key} {toolchain(*OWN[1:])}".encode()).hexdigest()
