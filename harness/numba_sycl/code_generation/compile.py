"""Kernels to SPIR-V by our own target of numba, each stage timed by itself.

Types of globals and arguments, and names of types.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, TypingError
from numba.np import numpy_support

from numba_sycl import kernel_names
from numba_sycl.code_generation.back_end import BackEnd
from numba_sycl.code_generation.calls import private_array
from numba_sycl.code_generation.checks import DeviceFunctionType
from numba_sycl.code_generation.context import NAME, TRIPLE, target
from numba_sycl.code_generation.device_types import (
    DeviceArray,
    GroupType,
    ItemType,
    NdItemType,
    value_types,
)
from numba_sycl.code_generation.items import atomic_fence, atomic_ref, group_barrier
from numba_sycl.code_generation.linking import linked, make_entry_point
from numba_sycl.code_generation.pipeline import DeviceFuncType, compile_function, compiling
from numba_sycl.compiler_messages import compile_error, divergence_error, find_divergent_call
from numba_sycl.entry_point import entry_point_name, launch_facts
from numba_sycl.errors import KernelCompileError
from numba_sycl.kernel_names import AddressSpace
from numba_sycl.kernel_options import SourceFunction, options_of
from numba_sycl.narrow.module import bounded_module
from numba_sycl.signature import ArrayType, CompiledKernel, LocalType, ScalarType, Signature
from numba_sycl.spirv_module import loop_hints, with_loop_controls
from numba_sycl.stacks import this_compiler

#: The device functions of the kernel that is being compiled.
_functions: dict[Any, DeviceFuncType] = {}


@contextmanager
def _device_functions() -> Iterator[None]:
    """Device functions are compiled for one kernel: for the next one, what they refer to may have changed."""
    try:
        yield
    finally:
        for function in _functions.values():
            function.forget()
        _functions.clear()


#: What kernels call of `numba_sycl.kernel_api`.
_OBJECTS: Final = {
    id(function): DeviceFunctionType(f"kernel_api.{function.__name__}", inspect.signature(function), typer)
    for function, typer in (
        (kernel_names.AtomicRef, atomic_ref),
        (kernel_names.PrivateArray, private_array),
        (kernel_names.group_barrier, group_barrier),
        (kernel_names.atomic_fence, atomic_fence),
    )
}


def type_of_value(value: Any) -> Any:
    """The type of a value; None where numba has one."""
    if isinstance(value, SourceFunction | Dispatcher):
        if value not in _functions:
            _functions[value] = DeviceFuncType(_source_of(value))
        return _functions[value]
    if id(value) in _OBJECTS:
        return _OBJECTS[id(value)]
    if isinstance(value, IntEnum) and type(value).__module__ == kernel_names.__name__:
        return types.IntegerLiteral(int(value))
    function = inspect.unwrap(value)  # in a run a function of dpnp has a session's around it
    if type(function).__module__.startswith("dpnp.") and isinstance(getattr(np, _dpnp_name(function), None), np.ufunc):
        return target.typing_context.resolve_value_type(getattr(np, _dpnp_name(function)))
    if isinstance(value, np.ndarray):
        return DeviceArray(numpy_support.from_dtype(value.dtype), value.ndim, "C", readonly=True)
    return None


def _source_of(function: Any) -> SourceFunction:
    """A device function; of one that ``numba.njit`` made, its Python function with its options."""
    if isinstance(function, SourceFunction):
        return function
    return SourceFunction(function.py_func, {"error_model": "python", **function.targetoptions})


def _dpnp_name(function: Any) -> str:
    """The name of one of dpnp's functions of elements, which numpy has too; "" for anything else."""
    return str(getattr(function, "name_", ""))


value_types.append(type_of_value)


def numba_types(signature: Signature) -> tuple[Any, ...]:
    """The numba types of the item and the arguments."""
    items = {"Item": (ItemType(signature.ndim),), "NdItem": (NdItemType(signature.ndim),)}
    arguments = (_numba_type(argument, signature.atomic64) for argument in signature.arguments)
    return *items.get(signature.item, ()), *arguments


def _numba_type(argument: Any, atomic64: bool) -> Any:
    assert isinstance(argument, ArrayType | LocalType | ScalarType)  # others are of kernels that are not Python
    dtype = numpy_support.from_dtype(np.dtype(argument.dtype))
    if isinstance(argument, ScalarType):
        return dtype
    if isinstance(argument, LocalType):
        return DeviceArray(dtype, argument.ndim, "C", AddressSpace.LOCAL, atomic64=atomic64)
    return DeviceArray(dtype, argument.ndim, argument.layout, atomic64=atomic64)


_back_end = BackEnd()


def _cleaned(text: str) -> tuple[str, bytes]:
    return _back_end.emit(text, TRIPLE, unroll=False, clean=True)


class _ReturnsValue(TypeError):
    """A kernel returns something."""


class KernelTypingError(KernelCompileError, TypingError):  # type: ignore[misc]
    """An error of numba's compilation, of the type that numba-dpex raises for any of them: a typing error."""


def compile_to_spirv(kernel: Any, signature: Signature) -> CompiledKernel:
    """Compile a kernel.

    Args:
        kernel: made by ``numba_sycl.kernel``.
        signature: index space and argument types to compile for.

    Raises:
        KernelCompileError: the function cannot be compiled.
    """
    function, options = kernel.py_func, options_of(kernel)
    divergent = find_divergent_call(function)
    if divergent is not None:
        raise divergence_error(function, divergent)
    name = entry_point_name(function.__name__)
    started = time.perf_counter_ns()
    try:
        with compiling(), _device_functions():
            arguments = numba_types(signature)
            compiled = compile_function(function, arguments, kernel.targetoptions)
            if compiled.signature.return_type not in (types.none, types.void):
                raise _ReturnsValue(f"it returns {compiled.signature.return_type}, but a kernel returns nothing")
            entry_point = make_entry_point(compiled, name, arguments, options, launch_facts(signature))
            module = linked([entry_point, *compiled.library.all_modules()], name, options)
        typed = time.perf_counter_ns()
        text, spirv = _back_end.emit(module, TRIPLE, unroll=options.unroll not in (None, "disable"))
        spirv = with_loop_controls(spirv, loop_hints(text))
        narrow, limit = bounded_module(text, name, signature, lambda settled: _cleaned(settled)[0])
        narrow_spirv = b""
        if narrow:
            narrow, narrow_spirv = _cleaned(narrow)
            narrow_spirv = with_loop_controls(narrow_spirv, loop_hints(narrow))
    except NumbaError as error:
        refused = compile_error(function, error)
        raise KernelTypingError(refused.kernel, refused.location, refused.reason) from None
    except Exception as error:
        raise compile_error(function, error) from None
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


def named(name: str) -> Any:
    """The object of one of these names; numba-dpex also has numba's own names of number types."""
    return _TYPES[name] if name in _TYPES else getattr(types, name)


def usm_ndarray(ndim: int, layout: str = "C", dtype: Any = types.float64, *, readonly: bool = False, **_: Any) -> Any:
    """The type of an array in USM.

    Args:
        ndim: number of dimensions.
        layout: layout C, F or A.
        dtype: numba's type of an element.
        readonly: whether it cannot be written.
        _: kind of USM, device or queue, which do not affect the code of a kernel.
    """
    return DeviceArray(dtype, ndim, layout, readonly=readonly)


_TYPES: Final = {
    **dict.fromkeys(("usm_ndarray", "USMNdArray", "DpnpNdArray"), usm_ndarray),
    "GroupType": GroupType,
    "ItemType": ItemType,
    "MissingSpecializationError": KernelTypingError,
    "NdItemType": NdItemType,
    # what numba.extending.overload and intrinsic take as target for functions of kernels
    "SPIRV_TARGET_NAME": NAME,
}
