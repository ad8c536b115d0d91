"""Calls of numba-dpex's older API in kernels: ids by OpenCL's names, barriers, arrays that a kernel declares."""

from __future__ import annotations

from math import prod
from typing import Any, Final, NoReturn

from llvmlite import ir
from numba.core import types
from numba.core.typing import signature
from numba.np.ufunc.decorators import Vectorize

from numba_sycl.code_generation import calls, checks, spirv
from numba_sycl.code_generation.calls import INT32, work_item_query
from numba_sycl.code_generation.device_function import Typer
from numba_sycl.code_generation.device_types import DeviceArray
from numba_sycl.code_generation.spirv import Scope, Semantics
from numba_sycl.errors import NotOffered
from numba_sycl.kernel_names import AddressSpace
from numba_sycl.numba_names import VECTORIZE

#: Bytes: the widest vector access of OpenCL C is one of 16 elements of 8 bytes.
_LOCAL_ALIGNMENT: Final = 128


def query(function: str) -> Typer:
    """The typer of one of OpenCL's functions of ids and extents, in a dimension from 0 to 2.

    Programs give floats as well: numba-dpex converted them.
    """

    def typer(dimension: Any) -> Any:
        if isinstance(dimension, types.Literal) and not 0 <= checks.literal("dimension", dimension, int) < 3:
            raise checks.Misuse(f"dimension is {dimension.literal_value}, but must be 0, 1 or 2")

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            result = work_item_query(builder, function, 0)
            for other in (1, 2):
                is_it = builder.icmp_unsigned("==", args[0], args[0].type(other))
                result = builder.select(is_it, work_item_query(builder, function, other), result)
            return result

        if not isinstance(types.unliteral(dimension), types.Integer | types.Float):
            raise checks.Misuse(f"dimension is {dimension}, but must be 0, 1 or 2")
        return signature(types.intp, types.intp), generate

    return typer


def barrier(flags: Any) -> Any:
    """``OpControlBarrier`` of the work-group; what its work-items wrote before is visible after."""
    return _fence("ControlBarrier", [Scope.WORK_GROUP, Scope.WORK_GROUP], flags)


def fence(flags: Any) -> Any:
    """``OpMemoryBarrier`` for the work-group."""
    return _fence("MemoryBarrier", [Scope.WORK_GROUP], flags)


def _fence(instruction: str, scopes: list[Scope], flags: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        operands = [*scopes, Semantics.SEQUENTIALLY_CONSISTENT | Semantics.ALL_MEMORY]
        spirv.call(builder, instruction, ir.VoidType(), [spirv.constant(operand) for operand in operands])
        return context.get_dummy_value()

    return signature(types.none, flags), generate


def private_array(shape: Any, dtype: Any) -> Any:
    """An array of one work-item, which begins with zeros."""
    made, generate = calls.private_array(shape, dtype, types.literal(1))
    return signature(made.return_type, shape, dtype), generate


def local_array(shape: Any, dtype: Any) -> Any:
    """An array of the work-group: a variable of the module."""
    extents, element = calls.literal_array(shape, dtype)
    array = DeviceArray(element, len(extents), "C", AddressSpace.LOCAL)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        item = context.get_data_type(element)
        memory = ir.ArrayType(item, prod(extents))
        name = builder.module.get_unique_name("local.array")
        variable = ir.GlobalVariable(builder.module, memory, name, addrspace=AddressSpace.LOCAL)
        variable.linkage, variable.align = "internal", _LOCAL_ALIGNMENT
        variable.initializer = ir.Constant(memory, ir.Undefined)
        data = builder.gep(variable, [INT32(0), INT32(0)], inbounds=True)
        return calls.array_of(context, builder, array, data, extents)

    return signature(array, shape, dtype), generate


def refuse_vectorize() -> None:
    """Have numba's ``vectorize`` say what to write where a program names numba-dpex's target."""

    def refuse(function: Any, **_: Any) -> NoReturn:
        raise NotOffered(f"vectorize of {function.__name__} for dpex {VECTORIZE}")

    Vectorize.target_registry["dpex"] = Vectorize.target_registry["dppy"] = refuse
