"""Kernels where numba-dpex is not installed: kept by an earlier process, shipped, or compiled by our own target.

numba is imported in the last case only. What is kept was compiled when these very packs did not have it, so a pack
always wins, and none is opened for a kernel that is kept.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.dpex_errors import NotShipped
from xebench.dpex.identity import UnknownIdentity, shipped_key
from xebench.dpex.packs import packs_in_sight
from xebench.dpex.shipped import find_shipped
from xebench.dpex.signature import Signature, not_a_kernel
from xebench.dpex.source_kernel import SourceKernel
from xebench.dpex.spirv_cache import SpirvCache, kept_or_compiled
from xebench.dpex.toolchain import OWN, toolchain
from xebench.errors import BrokenEnvironment
from xebench.system.runtime.packages import numba_finding


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
    return kept_or_compiled(kernel, signature, cache, _fingerprint, _shipped_or_compiled)


def _shipped_or_compiled(kernel: Any, signature: Signature) -> CompiledKernel:
    try:
        return find_shipped(kernel, signature)
    except NotShipped:
        if not has_compiler():
            raise
    return compile_here(kernel, signature)


def compile_here(kernel: Any, signature: Signature) -> CompiledKernel:
    """`find_or_compile`, whatever was shipped or kept.

    Raises:
        KernelCompileError: it cannot be compiled.
        BrokenEnvironment: numba is not installed, or too old.
        ArgumentError: it is no kernel.
    """
    if not isinstance(kernel, SourceKernel):
        raise not_a_kernel(kernel)
    _require_compiler()
    from xebench.dpex.numba_target.compile import compile_to_spirv

    return compile_to_spirv(kernel, signature)


def _require_compiler() -> None:
    if not has_compiler():
        raise BrokenEnvironment("numba compiles kernels, and is not installed: run python -m pip install numba")
    finding = numba_finding()
    if finding.status != "ok":  # such as numba 0.59, which the pinned stack has on Python 3.11
        raise BrokenEnvironment(finding.as_line())


def has_compiler() -> bool:
    """True if there is numba, which is not imported to find out."""
    return importlib.util.find_spec("numba") is not None


def _not_among(overloads: tuple[Signature, ...], kernel: Any, signature: Signature) -> Exception:
    from xebench.dpex.compiler_messages import beginning
    from xebench.dpex.numba_target.compile import KernelTypingError

    reason = f"its decorator names {' and '.join(map(str, overloads))}, but it is launched with {signature}"
    return KernelTypingError(kernel.py_func.__name__, beginning(kernel.py_func), reason)


def _fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of a compilation, or None if it cannot be determined."""
    try:
        key = shipped_key(kernel, signature)
    except UnknownIdentity:
        return None
    packs = packs_in_sight(Path(kernel.py_func.__code__.co_filename))
    return hashlib.sha256(f"{key} {toolchain(*OWN[1:])} {packs}".encode()).hexdigest()
