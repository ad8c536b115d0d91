"""Kernels to SPIR-V by our own target of numba, each stage timed by itself."""

from __future__ import annotations

import time
from typing import Any

from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError, TypingError

from xebench.dpex import llvm_facts, llvm_text
from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.compiler_messages import compile_error, divergence_error
from xebench.dpex.decorators import options_of
from xebench.dpex.divergence import find_divergent_call
from xebench.dpex.dpex_errors import KernelCompileError
from xebench.dpex.narrow.module import narrow_module
from xebench.dpex.numba_target import (  # noqa: F401  (what kernels use is declared in them)
    atomic_refs,
    items,
    printing,
    values,
)
from xebench.dpex.numba_target.back_end import BackEnd
from xebench.dpex.numba_target.entry_point import make_entry_point, numba_types
from xebench.dpex.numba_target.link import linked
from xebench.dpex.numba_target.loop_controls import loop_hints, with_loop_controls
from xebench.dpex.numba_target.pipeline import compile_function, prepare
from xebench.dpex.signature import Signature
from xebench.dpex.target_base.context import TRIPLE
from xebench.dpex.toolchain import this_compiler

_back_end = BackEnd()


class _ReturnsValue(TypeError):
    """A kernel returns something."""


class KernelTypingError(KernelCompileError, TypingError):  # type: ignore[misc]
    """What numba-dpex, whose launches numba compiles, calls a typing error, whatever numba did not like."""


def compile_to_spirv(kernel: Any, signature: Signature) -> CompiledKernel:
    """Compile a kernel.

    Args:
        kernel: made by ``xebench.dpex.kernel``.
        signature: what to compile it for.

    Raises:
        KernelCompileError: the function cannot be compiled.
    """
    function, options = kernel.py_func, options_of(kernel)
    divergent = find_divergent_call(function)
    if divergent is not None:
        raise divergence_error(function, divergent)
    name = llvm_text.entry_point_name(function.__name__)
    started = time.perf_counter_ns()
    try:
        with global_compiler_lock:
            prepare()
            arguments = numba_types(signature)
            compiled = compile_function(function, arguments, kernel.targetoptions)
            if compiled.signature.return_type not in (types.none, types.void):
                raise _ReturnsValue(f"it returns {compiled.signature.return_type}, but a kernel returns nothing")
            modules = [make_entry_point(compiled, name, arguments), *compiled.library.all_modules()]
            module = linked(modules, name, options, llvm_facts.launch_facts(signature))
        typed = time.perf_counter_ns()
        text, spirv = _back_end.emit(module, TRIPLE, unroll=options.unroll not in (None, "disable"))
        spirv = with_loop_controls(spirv, loop_hints(text))
        narrow, limit = narrow_module(text, name, signature)
        narrow_spirv = b""
        if narrow:
            narrow, narrow_spirv = _back_end.emit(narrow, TRIPLE, unroll=False, clean=True)
            narrow_spirv = with_loop_controls(narrow_spirv, loop_hints(narrow))
    except NumbaError as error:
        refused = compile_error(function, error)
        raise KernelTypingError(refused.kernel, refused.location, refused.reason) from error
    except Exception as error:
        raise compile_error(function, error) from error
    stages = {"typing": typed - started, "translate": time.perf_counter_ns() - typed}
    return CompiledKernel(
        name,
        spirv,
        options,
        signature,
        stages,
        cached=False,
        compiler=this_compiler(),
        llvm_ir=text,
        narrow=narrow_spirv,
        limit=limit,
    )
