"""Kernels to SPIR-V by numba-dpex, each stage timed by itself."""

from __future__ import annotations

import time
from typing import Any

from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba_dpex.core.exceptions import KernelHasReturnValueError
from numba_dpex.kernel_api_impl.spirv.dispatcher import CompilationMode, SPIRVKernelDispatcher

from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.compiler_messages import compile_error, divergence_error
from xebench.dpex.divergence import find_divergent_call
from xebench.dpex.fingerprint import fingerprint
from xebench.dpex.numba_types import numba_types
from xebench.dpex.signature import Signature, not_a_kernel
from xebench.dpex.spirv_cache import SpirvCache, kept_or_compiled
from xebench.dpex.toolchain import this_compiler
from xebench.dpex.translate import SIGNATURE


def compile_by_numba(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """Compile a kernel, or find what was compiled of it before.

    Args:
        kernel: made by ``xebench.dpex.kernel`` or ``numba_dpex.kernel``.
        signature: what to compile it for.
        cache: looked up first and filled after; None compiles.

    Raises:
        KernelCompileError: the function cannot be compiled.
        ArgumentError: it is no kernel.
    """
    # a device function is made by the same class
    if not isinstance(kernel, SPIRVKernelDispatcher) or not _is_kernel(kernel):
        raise not_a_kernel(kernel)
    return kept_or_compiled(kernel, signature, cache, fingerprint, _compile)


def _is_kernel(dispatcher: Any) -> bool:
    return bool(dispatcher.targetoptions["_compilation_mode"] == CompilationMode.KERNEL)


def _compile_with_facts(compiler: Any, signature: Signature) -> Any:
    """numba-dpex compiles a kernel; what is known of a launch holds for this signature alone."""
    setattr(compiler, SIGNATURE, signature)
    try:
        return compiler.compile(numba_types(signature), None)
    finally:
        delattr(compiler, SIGNATURE)


def _compile(kernel: Any, signature: Signature) -> CompiledKernel:
    started = time.perf_counter_ns()
    divergent = find_divergent_call(kernel.py_func)
    if divergent is not None:
        raise divergence_error(kernel.py_func, divergent)
    try:
        with global_compiler_lock:
            result = _compile_with_facts(kernel._compiler, signature)
            if result.signature.return_type not in (None, types.none, types.void):
                raise KernelHasReturnValueError(kernel.py_func.__name__, result.signature.return_type)
    except Exception as error:
        raise compile_error(kernel.py_func, error) from error
    module = result.kernel_device_ir_module
    total = time.perf_counter_ns() - started
    stages = {"typing": total - module.translate_ns, "translate": module.translate_ns}
    name, spirv, options = module.kernel_name, module.kernel_bitcode, module.options
    return CompiledKernel(
        name,
        spirv,
        options,
        signature,
        stages,
        cached=False,
        compiler=this_compiler(),
        llvm_ir=module.llvm_ir,
        narrow=module.narrow,
        limit=module.limit,
    )
