"""SPIR-V instructions in LLVM IR, and their operands.

A call of ``__spirv_<Instruction>``, mangled as C++ does, becomes the instruction of that name.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from numba_sycl.code_generation import SPIR_FUNC, checks

INT1, INT32, INT64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)

#: A value and the code of its type in a mangled name.
Argument = tuple[Any, str]


class Scope(IntEnum):
    """SPIR-V's scope ids (SPIR-V specification, 3.27)."""

    CROSS_DEVICE = 0
    DEVICE = 1
    WORK_GROUP = 2
    SUB_GROUP = 3
    INVOCATION = 4


class Semantics(IntEnum):
    """SPIR-V's memory semantics bits (SPIR-V specification, 3.25)."""

    RELAXED = 0
    ACQUIRE = 0x2
    RELEASE = 0x4
    ACQUIRE_RELEASE = 0x8
    SEQUENTIALLY_CONSISTENT = 0x10
    ALL_MEMORY = 0x80 | 0x100 | 0x200  # sub-group, work-group and cross-work-group memory, as in DPC++


_CODES = {
    types.boolean: "b",
    types.int8: "c",
    types.uint8: "h",
    types.int16: "s",
    types.uint16: "t",
    types.int32: "i",
    types.uint32: "j",
    types.int64: "l",
    types.uint64: "m",
    types.float16: "Dh",
    types.float32: "f",
    types.float64: "d",
}


def typed(value: Any, numba_type: Any) -> Argument:
    """An argument of a scalar numba type."""
    return value, _CODES[numba_type]


def constant(value: int) -> Argument:
    """A 32-bit unsigned constant: a scope, a kind of group operation, memory semantics."""
    return INT32(value), "j"


def vector(value: Any, code: str) -> Argument:
    """A vector whose elements have the type code *code*."""
    return value, f"Dv{value.type.count}_{code}"


def pointer(value: Any, code: str, *, const: bool = False) -> Argument:
    """A pointer in a numbered address space to what has the type code *code*."""
    return value, f"PU3AS{value.type.addrspace}{'K' if const else ''}{code}"


def call(
    builder: Any, instruction: str, returns: Any, arguments: Sequence[Argument], *, convergent: bool = True
) -> Any:
    """Emit one SPIR-V instruction.

    Args:
        builder: the llvmlite builder.
        instruction: the name after ``__spirv_``.
        returns: the LLVM type of the result.
        arguments: the operands.
        convergent: True if lanes exchange data, so that LLVM may not move the call into or out of branches.
    """
    name = f"__spirv_{instruction}"
    mangled = f"_Z{len(name)}{name}" + "".join(code for _, code in arguments)
    values = [value for value, _ in arguments]
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(returns, [value.type for value in values]), mangled
    )
    function.calling_convention = SPIR_FUNC
    result = builder.call(function, values)
    for attributes in (function.attributes, result.attributes):
        attributes.add("nounwind")
        if convergent:
            attributes.add("convergent")
    return result


#: More than any size or id of a sub-group.
MOST_SUB_GROUP_ITEMS = 1 << 16


def built_in(builder: Any, name: str) -> Any:
    """Read one of SPIR-V's 32-bit built-in variables, such as ``SubgroupSize``."""
    symbol = f"__spirv_BuiltIn{name}"
    variable = builder.module.globals.get(symbol)
    if variable is None:
        variable = ir.GlobalVariable(builder.module, INT32, symbol, addrspace=1)
        variable.linkage = "external"
        variable.global_constant = True
        variable.align = 4
    value = builder.load(variable)
    # Sizes and ids of sub-groups are small. With this fact LLVM drops numba's test for a negative index, which would
    # turn contiguous accesses into gathers.
    value.set_metadata("range", builder.module.add_metadata([INT32(0), INT32(MOST_SUB_GROUP_ITEMS)]))
    return value


def resize(builder: Any, value: Any, numba_type: Any, width: int) -> Any:
    """Widen or narrow an integer to *width* bits, keeping its sign."""
    target = ir.IntType(width)
    if value.type.width > width:
        return builder.trunc(value, target)
    if value.type.width < width:
        return builder.sext(value, target) if numba_type.signed else builder.zext(value, target)
    return value


def as_condition(builder: Any, value: Any) -> Any:
    """A predicate as the one-bit integer that SPIR-V's booleans are."""
    return value if value.type == INT1 else builder.icmp_unsigned("!=", value, value.type(0))


def element_pointer(
    context: Any,
    builder: Any,
    array_type: Any,
    array: Any,
    index: Any,
    index_types: Sequence[Any],
    *,
    wraparound: bool = False,
) -> Any:
    """A pointer to one element; without ``wraparound`` indices must not be negative."""
    parts = cgutils.unpack_tuple(builder, index) if checks.is_aggregate(index) else [index]
    positions = [
        context.cast(builder, part, part_type, types.intp) for part, part_type in zip(parts, index_types, strict=True)
    ]
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, view, positions, wraparound=wraparound)


def cast_pointer(builder: Any, pointer: Any, pointee: Any) -> Any:
    """The pointer in its own address space, to another type."""
    return builder.bitcast(pointer, ir.PointerType(pointee, addrspace=pointer.type.addrspace))


def elements_of(builder: Any, vector: Any) -> list[Any]:
    """The elements of an LLVM vector."""
    return [builder.extract_element(vector, ir.IntType(32)(lane)) for lane in range(vector.type.count)]


def vector_of(builder: Any, elements: Sequence[Any]) -> Any:
    """An LLVM vector of elements."""
    vector = ir.Constant(ir.VectorType(elements[0].type, len(elements)), ir.Undefined)
    for lane, element in enumerate(elements):
        vector = builder.insert_element(vector, element, ir.IntType(32)(lane))
    return vector
