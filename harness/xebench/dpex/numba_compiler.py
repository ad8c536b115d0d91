"""Kernels to SPIR-V by numba-dpex, and the identity of such a compilation.

Kernels of ``xebench.kernel`` are compiled for `xebench.dpex.integer_target`, those of ``numba_dpex.kernel`` by
numba-dpex as it is. ``--compiler numba-dpex`` has the former compiled like the latter, as far as that goes.

A wrong match in the cache would run the wrong kernel, so an identity is conservative: to what the kernel is
(:mod:`numba_sycl.identity`) it adds the bytecode and constants of each function, the argument types and the versions of
the compilers. Where a kernel refers to something without an identity, there is no fingerprint and the kernel is
compiled again.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from pathlib import Path
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

from numba_sycl.compiler_messages import compile_error, dimension_error, divergence_error, find_divergent_call
from numba_sycl.entry_point import entry_point_name
from numba_sycl.identity import Identity, UnknownIdentity, extensions_digest
from numba_sycl.kernel_options import KernelOptions, options_of_compiler
from numba_sycl.signature import (
    ArgumentType,
    ArrayType,
    CompiledKernel,
    LocalType,
    OtherParameter,
    ScalarType,
    Signature,
    not_a_kernel,
)
from numba_sycl.spirv_cache import SpirvCache, kept_or_compiled, toolchain
from numba_sycl.spirv_module import with_entry_point
from xebench.dpex.errors import NotCompiledAsItIs
from xebench.dpex.integer_target import KernelDispatcher, forget_twin, plain_twin
from xebench.dpex.repairs import cures
from xebench.system.runtime.kernel_compiler import compiler_name, is_numba_dpex_as_it_is

AS_IT_IS = compiler_name(as_it_is=True)
WITH_OUR_INTEGERS = compiler_name(as_it_is=False)


class _AnyQueue(DpctlSyclQueue):  # type: ignore[misc]
    """The queue of every array type that is compiled here: none in particular."""

    def __init__(self, atomic64: bool) -> None:
        self._device = "any:device"
        self._device_has_aspect_atomic64 = atomic64
        self._unique_id = f"any queue, 64-bit atomics {atomic64}"
        types.Type.__init__(self, name=self._unique_id)


def _numba_type(argument: ArgumentType | OtherParameter, queue: _AnyQueue) -> Any:
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


def fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of compiling ``kernel`` for ``signature``, or None if it cannot be determined."""
    identity = _OfCompilation()
    try:
        identity.add(toolchain(*_PACKAGES, adapter=Path(__file__).parent))
        identity.add([str(getattr(config, name)) for name in _SETTINGS])
        identity.add(repr(signature))
        identity.add(extensions_digest())
        identity.add(kernel)
    except UnknownIdentity:
        return None
    return identity.hexdigest()


class _OfCompilation(Identity):
    """Adds what only this Python and these compilers give a meaning to.

    Attributes:
        dispatchers: the kernel and the device functions.
    """

    def __init__(self) -> None:
        super().__init__()
        self.dispatchers: list[SPIRVKernelDispatcher] = []

    def add(self, value: Any, attributes: Any = ()) -> None:
        if isinstance(value, types.Type):
            self._token("type", str(value))
        else:
            super().add(value, attributes)

    def add_decorated(self, decorated: Any) -> None:
        self._token("dispatcher", type(decorated).__name__)
        if isinstance(decorated, SPIRVKernelDispatcher):
            self.dispatchers.append(decorated)
            self.add(decorated.targetoptions["_compilation_mode"])
            self.add(repr(decorated._compiler.locals))
        super().add_decorated(decorated)


def compile_by_numba(kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
    """Compile a kernel, or find an earlier compilation.

    Args:
        kernel: made by ``xebench.dpex.kernel`` or ``numba_dpex.kernel``.
        signature: index space and argument types to compile for.
        cache: cache to read and fill; None to compile always.

    Raises:
        KernelCompileError: the function cannot be compiled.
        NotCompiledAsItIs: it cannot be compiled by numba-dpex as it is.
        ArgumentError: it is no kernel.
    """
    # a device function is made by the same class
    if not isinstance(kernel, SPIRVKernelDispatcher) or not _is_kernel(kernel):
        raise not_a_kernel(kernel)
    if not isinstance(kernel, KernelDispatcher):
        return kept_or_compiled(kernel, signature, cache, fingerprint, _compile_plain, AS_IT_IS)
    if not is_numba_dpex_as_it_is():
        return kept_or_compiled(kernel, signature, cache, fingerprint, _compile, WITH_OUR_INTEGERS)
    options = options_of_compiler(kernel._compiler)
    _require_no_options_of_code(kernel, options)
    try:
        compiled = compile_by_numba(plain_twin(kernel), signature, cache)
    except Exception as error:
        raise NotCompiledAsItIs(kernel.py_func.__name__, str(error).splitlines()[0]) from error
    return replace(compiled, options=options)


def _require_no_options_of_code(kernel: Any, options: KernelOptions) -> None:
    """Raise an error for options that numba-dpex has no way to write into a module; the driver's own are kept."""
    drivers = KernelOptions(
        relaxed_math=options.relaxed_math, large_grf=options.large_grf, build_options=options.build_options
    )
    if options != drivers:
        raise NotCompiledAsItIs(kernel.py_func.__name__, f"it has no option for {options.text()}")


def _is_kernel(dispatcher: Any) -> bool:
    return bool(dispatcher.targetoptions["_compilation_mode"] == CompilationMode.KERNEL)


def _forget_device_functions(kernel: Any) -> None:
    """Have device functions compiled anew: what they refer to may have changed, and the kernel's identity with it."""
    identity = _OfCompilation()
    with contextlib.suppress(UnknownIdentity):  # then the kernel is not kept either
        identity.add(kernel)
    for dispatcher in identity.dispatchers:
        if dispatcher._can_compile:  # not one with signatures, which is compiled when it is made
            dispatcher.overloads.clear()
            forget_twin(dispatcher)


def _module(kernel: Any, signature: Signature) -> Any:
    """The compiled module of a kernel of either target.

    Raises:
        KernelCompileError: it cannot be compiled.
    """
    divergent = find_divergent_call(kernel.py_func)
    if divergent is not None:
        raise divergence_error(kernel.py_func, divergent)
    if (lacking := dimension_error(kernel.py_func, signature.ndim)) is not None:  # the driver crashes, or gives 0
        raise lacking
    try:
        with global_compiler_lock:
            _forget_device_functions(kernel)
            result = kernel._compiler.compile(numba_types(signature), None)
            if result.signature.return_type not in (None, types.none, types.void):
                raise KernelHasReturnValueError(kernel.py_func.__name__, result.signature.return_type)
    except Exception as error:
        raise compile_error(kernel.py_func, error) from None
    return result.kernel_device_ir_module


def _compile(kernel: Any, signature: Signature) -> CompiledKernel:
    cures.import_registries()  # once in a process: this is no time of the kernel's
    started = time.perf_counter_ns()
    kernel._compiler.launch_signature = signature  # what is known of a launch holds for this signature alone
    try:
        module = _module(kernel, signature)
    finally:
        kernel._compiler.launch_signature = None
    total = time.perf_counter_ns() - started
    return CompiledKernel(
        module.kernel_name,
        module.kernel_bitcode,
        module.options,
        signature,
        {"typing": total - module.translate_ns, "translate": module.translate_ns},
        cached=False,
        compiler=WITH_OUR_INTEGERS,
        llvm_ir=module.llvm_ir,
        narrow=module.narrow,
        limit=module.limit,
    )


def _compile_plain(kernel: Any, signature: Signature) -> CompiledKernel:
    cures.import_registries()
    started = time.perf_counter_ns()
    module = _module(kernel, signature)
    name = entry_point_name(kernel.py_func.__name__)  # numba-dpex's own counts compilations
    return CompiledKernel(
        name,
        with_entry_point(module.kernel_bitcode, name),
        options_of_compiler(kernel._compiler),
        signature,
        {"typing": time.perf_counter_ns() - started},
        cached=False,
        compiler=AS_IT_IS,
    )
