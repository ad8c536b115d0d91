"""Kernels to SPIR-V by our own target of numba, each stage timed by itself.

Globals, entry point, linking, type names.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, TypingError
from numba.np import numpy_support

from numba_sycl import kernel_names, llvm_text
from numba_sycl.code_generation.back_end import BackEnd, without_texts
from numba_sycl.code_generation.calls import INT32, INT64, LIBRARY, private_array
from numba_sycl.code_generation.checks import DeviceFunctionType
from numba_sycl.code_generation.context import NAME, TRIPLE, target
from numba_sycl.code_generation.device_types import (
    NOTHING,
    DeviceArray,
    GroupType,
    IndexSpaceType,
    ItemType,
    NdItemType,
    value_types,
)
from numba_sycl.code_generation.items import atomic_fence, atomic_ref, group_barrier
from numba_sycl.code_generation.pipeline import DeviceFuncType, compile_function, prepare
from numba_sycl.compiler_messages import compile_error, divergence_error, find_divergent_call
from numba_sycl.errors import KernelCompileError
from numba_sycl.kernel_names import AddressSpace
from numba_sycl.kernel_options import KernelOptions, SourceFunction, options_of
from numba_sycl.narrow.module import bounded_module
from numba_sycl.signature import ArrayType, CompiledKernel, LocalType, ScalarType, Signature
from numba_sycl.spirv_cache import this_compiler
from numba_sycl.spirv_module import loop_hints, with_loop_controls

_functions: WeakKeyDictionary[Any, DeviceFuncType] = WeakKeyDictionary()


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

#: OpenCL C 1.2, which a module says that it is of. Without it LLVM says C++ for OpenCL, and Intel's CPU driver, which
#: looks at that, ignores ``-cl-fast-relaxed-math`` and makes slow loops around a compare-and-exchange.
_LANGUAGE: Final = (INT32(1), INT32(2))


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


def make_entry_point(compiled: Any, name: str, arguments: tuple[Any, ...]) -> Any:
    """An LLVM module with the entry point.

    Args:
        compiled: numba's result for the Python function.
        name: name of the entry point.
        arguments: numba types of the item and the arguments, as they are flattened by `numba_sycl.launch`.
    """
    context = target.target_context
    module = context.create_module("entry point")
    module.add_named_metadata("opencl.ocl.version", _LANGUAGE)
    flat = [kind for argument in arguments for kind in _flattened(context, argument)]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), flat), name)
    function.calling_convention = "spir_kernel"
    builder = ir.IRBuilder(function.append_basic_block())
    given = iter(function.args)
    values = [_assembled(context, builder, argument, given) for argument in arguments]
    called = context.declare_function(module, compiled.fndesc)
    context.call_conv.call_function(builder, called, types.void, arguments, values)
    builder.ret_void()
    return module


def _flattened(context: Any, argument: Any) -> list[Any]:
    if isinstance(argument, IndexSpaceType):
        return []
    if isinstance(argument, DeviceArray):
        pointer = ir.PointerType(context.get_data_type(argument.dtype), addrspace=argument.addrspace)
        return [INT64, INT64, pointer, *[INT64] * (2 * argument.ndim)]
    if isinstance(argument, types.Complex):
        return [context.get_data_type(argument.underlying_float)] * 2
    return [context.get_data_type(argument)]


def _assembled(context: Any, builder: Any, argument: Any, given: Iterator[Any]) -> Any:
    if isinstance(argument, IndexSpaceType):
        return NOTHING
    if isinstance(argument, DeviceArray):
        array = context.make_array(argument)(context, builder)
        nitems, itemsize, data = next(given), next(given), next(given)
        shape = [next(given) for _ in range(argument.ndim)]
        strides = [next(given) for _ in range(argument.ndim)]
        context.populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
        array.nitems = nitems
        return array._getvalue()
    if isinstance(argument, types.Complex):
        number = context.make_complex(builder, argument)
        number.real, number.imag = next(given), next(given)
        return number._getvalue()
    return context.data_model_manager[argument].from_data(builder, next(given))


class HostFunction(TypeError):
    """A kernel needs a function that only the host has."""


_CALLED = re.compile(r'\bcall [^@\n]*@"?(?P<name>[\w.]+)"?\(')
#: How the names of what devices have begin.
_OF_DEVICE = ("_Z", "llvm.", "printf")

_DECLARED = re.compile(r'^declare [^@]*@"?(?P<name>[\w.]+)"?\(', re.MULTILINE)


def linked(modules: Sequence[Any], kernel: str, options: KernelOptions, facts: Mapping[int, int | None]) -> str:
    """The LLVM IR of a whole kernel, with its options.

    Args:
        modules: llvmlite's, of the entry point and of all functions; linked as text.
        kernel: name of the entry point.
        options: options of the kernel.
        facts: known facts of the kernel's parameters.

    Raises:
        HostFunction: it calls what no device has, such as a library for random numbers.
    """
    whole, *others = (llvm.parse_assembly(_with_device_library(str(module))) for module in modules)
    for other in others:
        whole.link_in(other)
    for function in whole.functions:
        if not function.is_declaration and function.name != kernel:
            function.linkage = llvm.Linkage.internal
    text, texts = without_texts(str(whole))
    for call in _CALLED.finditer(text):
        if not call["name"].startswith(_OF_DEVICE):
            raise HostFunction(f"it calls {call['name']}, which does not exist on devices")
    return llvm_text.apply_options(llvm_text.state_launch(text, kernel, facts), kernel, options) + texts


def _with_device_library(text: str) -> str:
    """Call OpenCL's functions where numba calls those of C's library."""
    text, texts = without_texts(text)
    declared = {match["name"] for match in _DECLARED.finditer(text)}
    for name in sorted(declared & LIBRARY.keys()):
        if LIBRARY[name] in declared:
            text = re.sub(rf'^declare [^@]*@"?{name}"?\(.*\n', "", text, flags=re.MULTILINE)
        text = re.sub(rf'@"?{name}"?\(', f'@"{LIBRARY[name]}"(', text)
        declared.add(LIBRARY[name])
    return text + texts


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
            module = linked(modules, name, options, llvm_text.launch_facts(signature))
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
