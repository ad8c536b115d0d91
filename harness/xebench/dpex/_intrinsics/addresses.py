"""Addresses of array elements, and tuples of elements, as block and vector access need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from xebench.dpex._intrinsics import checks


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
