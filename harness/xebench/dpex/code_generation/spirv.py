"""SPIR-V instructions in LLVM IR, and the addresses of array elements that they are given.

A call of ``__spirv_<Instruction>``, mangled as C++ does, becomes the instruction of that name.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from xebench.dpex.code_generation import SPIR_FUNC, checks

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
    ALL_MEMORY = 0x80 | 0x100 | 0x200  # sub-group, work-group and cross-work-group memory, as DPC++ asks


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
        convergent: whether lanes exchange data, so that LLVM may not move the call into or out of branches.
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
    # Sizes and ids of sub-groups are small: told so, LLVM drops numba's test for a negative index, which would
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


def index_signature(array_type: Any, given: Any) -> tuple[Any, Any]:
    """The index types of an element: as parts, and as the one type that stands in a signature."""
    parts = checks.indices(array_type, given)
    return parts, types.Tuple(parts) if isinstance(given, types.BaseTuple) else parts[0]


def constant_index(given: Any) -> int | None:
    """The last part of an index if it is a compile-time constant, else None.

    Raises:
        Misuse: it is negative, which numba would not wrap around here.
    """
    last = given.types[-1] if isinstance(given, types.BaseTuple) else given
    if not isinstance(last, types.IntegerLiteral):
        return None
    value: int = last.literal_value
    if value < 0:
        raise checks.Misuse(f"index is {value}, but must not be negative")
    return value


def element_pointer(
    context: Any, builder: Any, array_type: Any, array: Any, index: Any, index_types: Sequence[Any]
) -> Any:
    """A pointer to one element; indices are not wrapped around, so they must not be negative."""
    parts = cgutils.unpack_tuple(builder, index) if _is_aggregate(index) else [index]
    positions = [
        context.cast(builder, part, part_type, types.intp) for part, part_type in zip(parts, index_types, strict=True)
    ]
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, view, positions, wraparound=False)


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


class StoredValues:
    """The values of a store: one value, as many arguments as elements, or one tuple of as many.

    Args:
        array_type: the array that is written.
        given: the type of the ``value`` or ``*values`` parameter.
        width: how many elements are stored.

    Attributes:
        signature: the parameter's type in the signature of the call, without literals.

    Raises:
        Misuse: another number of values, or something that is no number.
    """

    def __init__(self, array_type: Any, given: Any, width: int) -> None:
        self._dtype = array_type.dtype
        arguments = tuple(given.types) if isinstance(given, types.BaseTuple) else (given,)
        self._nested = len(arguments) == 1 and isinstance(arguments[0], types.BaseTuple)
        values = tuple(arguments[0].types) if self._nested else arguments
        if len(values) != width:
            raise checks.Misuse(f"{len(values)} value(s) given, but {width} are stored")
        self._types = tuple(types.unliteral(value) for value in values)
        for value in self._types:
            if not isinstance(value, types.Integer | types.Float | types.Boolean):
                raise checks.Misuse(f"a value is {value}, but must be a real number")
        plain = types.Tuple(self._types)
        if self._nested:
            self.signature = types.Tuple((plain,))
        else:
            self.signature = plain if isinstance(given, types.BaseTuple) else self._types[0]

    def unpack(self, context: Any, builder: Any, argument: Any) -> list[Any]:
        """The LLVM values, converted to the array's dtype as ``array[index] = value`` does."""
        values = cgutils.unpack_tuple(builder, argument) if _is_aggregate(argument) else [argument]
        if self._nested:
            values = cgutils.unpack_tuple(builder, values[0])
        return [
            context.cast(builder, value, value_type, self._dtype)
            for value, value_type in zip(values, self._types, strict=True)
        ]


def _is_aggregate(value: Any) -> bool:
    return isinstance(value.type, ir.ArrayType | ir.LiteralStructType)
