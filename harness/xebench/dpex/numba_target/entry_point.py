"""The entry point of a kernel: takes the flattened arguments of a launch, and calls the compiled Python function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.np import numpy_support

from xebench.dpex.kernel_names import AddressSpace
from xebench.dpex.numba_target.calls import INT32, INT64
from xebench.dpex.signature import ArrayType, LocalType, ScalarType, Signature
from xebench.dpex.target_base.context import target
from xebench.dpex.target_base.device_types import NOTHING, DeviceArray, IndexSpaceType, ItemType, NdItemType

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
        compiled: what numba made of the Python function.
        name: of the entry point.
        arguments: numba types of the item and the arguments, as they are flattened by `xebench.dpex.arguments`.
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
