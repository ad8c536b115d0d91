"""Get a kernel's code: from numba-dpex, or where it is not installed, from a pack, the cache or our own compiler.

numba is imported in the last case only. What is kept was compiled when these very packs did not have it, so a pack
always wins, and none is opened for a kernel that is kept.

A :class:`CompiledKernel` is all that is known of where a kernel came from to what builds and launches it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from xebench.dpex.dpex_errors import NotShipped
from xebench.dpex.foreign_kernel import ForeignKernel
from xebench.dpex.kernel_options import SourceKernel
from xebench.dpex.shipped import UnknownIdentity, find_shipped, packs_in_sight, shipped_key
from xebench.dpex.signature import CompiledKernel, Signature, not_a_kernel, signature_of
from xebench.dpex.spirv_cache import OWN, SpirvCache, kept_or_compiled, toolchain
from xebench.errors import BrokenEnvironment
from xebench.system.runtime.packages import is_current, numba_finding


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
    from xebench.dpex.code_generation.compile import compile_to_spirv

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
    from xebench.dpex.code_generation.compile import KernelTypingError
    from xebench.dpex.compiler_messages import beginning

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


#: Makes the SPIR-V of a kernel for a signature, with the help of a cache or without.
KernelProvider = Callable[[Any, Signature, SpirvCache | None], CompiledKernel]

_compiled: WeakKeyDictionary[Any, dict[Signature, CompiledKernel]] = WeakKeyDictionary()


def compile_kernel(
    kernel: Any, index_space: Any, args: Sequence[Any], *, cache: SpirvCache | None = None
) -> CompiledKernel:
    """Compile a kernel to SPIR-V for an index space and arguments, once a process.

    Args:
        kernel: made by ``xebench.dpex.kernel``, ``opencl_kernel``, ``spirv_kernel`` or ``numba_dpex.kernel``.
        index_space: ``kernel_api.Range`` or ``NdRange``; only its kind and dimensions matter.
        args: the kernel's arguments after the item; only their types matter.
        cache: looked up first and filled after; None compiles.

    Raises:
        KernelCompileError: the function cannot be compiled; names the kernel and the line.
        NotShipped: nothing compiles it here, and it was not shipped.
        ArgumentError: arguments that a kernel cannot take.
        IndexSpaceError: an index space that the kernel cannot run in.
    """
    return compile_for(kernel, signature_of(kernel, index_space, args), cache)


def compile_for(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """``compile_kernel`` for a signature that is known already."""
    started = time.perf_counter_ns()
    if not isinstance(kernel, ForeignKernel) and not hasattr(kernel, "py_func"):
        raise not_a_kernel(kernel)
    earlier = _compiled.setdefault(kernel, {})
    if signature in earlier and isinstance(kernel, ForeignKernel):
        return earlier[signature]
    if signature in earlier:
        return replace(earlier[signature], stages={"typing": time.perf_counter_ns() - started}, cached=True)
    earlier[signature] = _source(kernel, signature, cache)
    return earlier[signature]


def use_source(source: KernelProvider) -> None:
    """Take kernels from another source from now on, in this process: who makes a pack sees all of them so."""
    global _source  # noqa: PLW0603
    _source = source


def of_this_stack(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """The default source of kernels in this environment."""
    if isinstance(kernel, ForeignKernel):
        return CompiledKernel.of_foreign(kernel, signature)
    if is_current():
        return find_or_compile(kernel, signature, cache)
    from xebench.dpex.numba_compiler import compile_by_numba

    return compile_by_numba(kernel, signature, cache)


def compile_anew(kernel: Any, signature: Signature, cache: SpirvCache | None = None) -> CompiledKernel:
    """A kernel of Python by the compiler of this stack, whatever packs and caches have.

    Raises:
        KernelCompileError: it cannot be compiled.
        BrokenEnvironment: there is no compiler.
        ArgumentError: it is no kernel.
    """
    if is_current():
        return compile_here(kernel, signature)
    from xebench.dpex.numba_compiler import compile_by_numba

    return compile_by_numba(kernel, signature, None)


_source: KernelProvider = of_this_stack
