"""From a kernel to its code: numba-dpex compiles it, or, where that is not, it was shipped or our own target of numba
compiles it; or it is no Python at all.

A :class:`CompiledKernel` is all that is known of where a kernel came from to what builds and launches it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.foreign_kernel import ForeignKernel
from xebench.dpex.signature import Signature, not_a_kernel, signature_of
from xebench.dpex.spirv_cache import SpirvCache
from xebench.system.runtime.stack import is_current

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
    """Where kernels come from unless somebody says otherwise."""
    if isinstance(kernel, ForeignKernel):
        return CompiledKernel.of_foreign(kernel, signature)
    if is_current():
        from xebench.dpex.compile_here import find_or_compile

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
        from xebench.dpex.compile_here import compile_here

        return compile_here(kernel, signature)
    from xebench.dpex.numba_compiler import compile_by_numba

    return compile_by_numba(kernel, signature, None)


_source: KernelProvider = of_this_stack
