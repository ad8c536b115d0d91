"""Get a kernel's code: from numba-dpex, or where it is not installed, from the cache or our own compiler.

The last of these alone imports numba.

A :class:`CompiledKernel` is all that is known of where a kernel came from to what builds and launches it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from numba_sycl.identity import UnknownIdentity, kernel_key
from numba_sycl.kernel_options import SourceKernel
from numba_sycl.signature import CompiledKernel, OtherKernel, Signature, not_a_kernel, signature_of
from numba_sycl.spirv_cache import SpirvCache, kept_or_compiled, toolchain
from numba_sycl.stacks import OWN, check_numba, is_current, numba_dpex_adapter, this_compiler


def find_or_compile(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """The SPIR-V of a kernel.

    Args:
        kernel: made by ``numba_sycl.kernel``.
        signature: index space and argument types to compile for.
        cache: cache to read and fill; None for no cache.

    Raises:
        KernelCompileError: it cannot be compiled.
        BrokenEnvironment: numba is not installed, or too old.
        ArgumentError: it is no kernel.
    """
    overloads = getattr(kernel, "overloads", ())
    if overloads and not any(overload.serves(signature) for overload in overloads):
        raise _not_among(overloads, kernel, signature)
    return kept_or_compiled(kernel, signature, cache, _fingerprint, compile_here, this_compiler())


def compile_here(kernel: Any, signature: Signature) -> CompiledKernel:
    """`find_or_compile`, whatever was kept.

    Raises:
        KernelCompileError: it cannot be compiled.
        BrokenEnvironment: numba is not installed, or too old.
        ArgumentError: it is no kernel.
    """
    if not isinstance(kernel, SourceKernel):
        raise not_a_kernel(kernel)
    check_numba()  # such as numba 0.59, which the pinned stack has on Python 3.11
    from numba_sycl.code_generation.compile import compile_to_spirv

    return compile_to_spirv(kernel, signature)


def _not_among(overloads: tuple[Signature, ...], kernel: Any, signature: Signature) -> Exception:
    from numba_sycl.code_generation.compile import KernelTypingError
    from numba_sycl.compiler_messages import beginning

    reason = f"its decorator names {' and '.join(map(str, overloads))}, but it is launched with {signature}"
    return KernelTypingError(kernel.py_func.__name__, beginning(kernel.py_func), reason)


def _fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of a compilation, or None if it cannot be determined."""
    try:
        key = kernel_key(kernel, signature)
    except UnknownIdentity:
        return None
    return hashlib.sha256(f"{key} {toolchain(*OWN[1:], 'numpy')}".encode()).hexdigest()


_compiled: WeakKeyDictionary[Any, dict[Signature, CompiledKernel]] = WeakKeyDictionary()


def compile_kernel(
    kernel: Any, index_space: Any, args: Sequence[Any], *, cache: SpirvCache | None = None
) -> CompiledKernel:
    """Compile a kernel to SPIR-V for an index space and arguments, once a process.

    Args:
        kernel: made by ``numba_sycl.kernel`` or ``numba_dpex.kernel``, or an `OtherKernel`.
        index_space: ``kernel_api.Range`` or ``NdRange``; only its kind and dimensions matter.
        args: the kernel's arguments after the item; only their types matter.
        cache: looked up first and filled after; None compiles.

    Raises:
        KernelCompileError: the function cannot be compiled; names the kernel and the line.
        BrokenEnvironment: there is no compiler.
        ArgumentError: arguments that a kernel cannot take.
        IndexSpaceError: an index space that the kernel cannot run in.
    """
    return compile_for(kernel, signature_of(kernel, index_space, args), cache)


def compile_for(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """``compile_kernel`` for a signature that is known already."""
    started = time.perf_counter_ns()
    if not isinstance(kernel, OtherKernel) and not hasattr(kernel, "py_func"):
        raise not_a_kernel(kernel)
    earlier = _compiled.setdefault(kernel, {})
    if signature in earlier and isinstance(kernel, OtherKernel):
        return replace(earlier[signature], stages={})
    if signature in earlier:
        return replace(earlier[signature], stages={"typing": time.perf_counter_ns() - started}, cached=True)
    earlier[signature] = of_this_stack(kernel, signature, cache)
    return earlier[signature]


def of_this_stack(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """A kernel by the compiler of this environment, or what was kept of it."""
    if isinstance(kernel, OtherKernel):
        return kernel.compiled(signature, cache)
    if is_current():
        return find_or_compile(kernel, signature, cache)
    code: CompiledKernel = numba_dpex_adapter().compile_by_numba(kernel, signature, cache)
    return code
