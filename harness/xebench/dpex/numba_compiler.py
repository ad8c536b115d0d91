"""Kernels to SPIR-V by numba-dpex, each stage timed by itself, and the identity of such a compilation.

A wrong match would run the wrong kernel, so this is conservative: to what the kernel is (:mod:`xebench.dpex.identity`)
it adds the bytecode and constants of each function, the argument types and the versions of the compilers. Where a
kernel refers to something whose identity cannot be told, there is no fingerprint and the kernel is compiled again.
"""

from __future__ import annotations

import inspect
import time
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.np import numpy_support
from numba_dpex.core import config
from numba_dpex.core.exceptions import KernelHasReturnValueError
from numba_dpex.core.types import USMNdArray
from numba_dpex.core.types.dpctl_types import DpctlSyclQueue
from numba_dpex.core.types.kernel_api.index_space_ids import ItemType, NdItemType
from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType
from numba_dpex.kernel_api_impl.spirv.dispatcher import CompilationMode, SPIRVKernelDispatcher

from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.compiler_messages import compile_error, divergence_error, find_divergent_call
from xebench.dpex.foreign_kernel import Parameter
from xebench.dpex.identity import Identity, UnknownIdentity
from xebench.dpex.numba_dpex_hooks import SIGNATURE
from xebench.dpex.signature import ArgumentType, ArrayType, LocalType, ScalarType, Signature, not_a_kernel
from xebench.dpex.spirv_cache import SpirvCache, kept_or_compiled, this_compiler, toolchain


class _AnyQueue(DpctlSyclQueue):  # type: ignore[misc]
    """The queue of every array type that is compiled here: none in particular."""

    def __init__(self, atomic64: bool) -> None:
        self._device = "any:device"
        self._device_has_aspect_atomic64 = atomic64
        self._unique_id = f"any queue, 64-bit atomics {atomic64}"
        types.Type.__init__(self, name=self._unique_id)


def _numba_type(argument: ArgumentType | Parameter, queue: _AnyQueue) -> Any:
    assert isinstance(argument, ArrayType | LocalType | ScalarType)  # others are of kernels that numba never sees
    dtype = numpy_support.from_dtype(np.dtype(argument.dtype))
    if isinstance(argument, ScalarType):
        return dtype
    if isinstance(argument, LocalType):
        return LocalAccessorType(argument.ndim, dtype)
    return USMNdArray(ndim=argument.ndim, layout=argument.layout, dtype=dtype, queue=queue)


def numba_types(signature: Signature) -> tuple[Any, ...]:
    """The numba types of the item and the arguments."""
    items = {"Item": (ItemType(signature.ndim),), "NdItem": (NdItemType(signature.ndim),)}
    queue = _AnyQueue(signature.atomic64)
    return (*items.get(signature.item, ()), *(_numba_type(argument, queue) for argument in signature.arguments))


_PACKAGES = ("numba", "numba-dpex", "llvmlite", "dpcpp-llvm-spirv", "numpy", "dpnp", "dpctl")
# Settings of numba and numba-dpex, which environment variables change.
_SETTINGS = ("DPEX_OPT", "INLINE_THRESHOLD", "DEBUGINFO_DEFAULT", "BOUNDSCHECK", "OPT")

_CODE_FIELDS = (
    "co_name",
    "co_code",
    "co_exceptiontable",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_kwonlyargcount",
    "co_flags",
)


def fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of compiling ``kernel`` for ``signature``, or None if it cannot be determined."""
    identity = _OfCompilation()
    try:
        identity.add(toolchain(*_PACKAGES))
        identity.add([str(getattr(config, name)) for name in _SETTINGS])
        identity.add(repr(signature))
        identity.add(kernel)
    except UnknownIdentity:
        return None
    return identity.hexdigest()


class _OfCompilation(Identity):
    """Adds what only this Python and these compilers give a meaning to."""

    def add(self, value: Any, attributes: Any = ()) -> None:
        if isinstance(value, types.Type):
            self._token("type", str(value))
        else:
            super().add(value, attributes)

    def is_compound(self, value: Any) -> bool:
        return isinstance(value, CodeType) or super().is_compound(value)

    def add_compound(self, value: Any, looked_up: frozenset[str]) -> None:
        if isinstance(value, CodeType):
            for field in _CODE_FIELDS:
                self.add(getattr(value, field))
            self.add(value.co_consts)
        else:
            super().add_compound(value, looked_up)

    def add_decorated(self, decorated: Any) -> None:
        self._token("dispatcher", type(decorated).__name__)
        if isinstance(decorated, SPIRVKernelDispatcher):
            self.add(decorated.targetoptions["_compilation_mode"])
            self.add(repr(decorated._compiler.locals))
        super().add_decorated(decorated)

    def add_text(self, function: FunctionType) -> None:
        try:
            self.add(inspect.getsource(function))
        except (OSError, TypeError):
            self._token("no source")
        self.add(function.__code__)


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
