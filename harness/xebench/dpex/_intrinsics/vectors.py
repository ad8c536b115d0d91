"""Code generators of ``vector``: LLVM vector loads and stores with a stated alignment."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature

from xebench.dpex._intrinsics import checks, spirv
from xebench.dpex._intrinsics.device_function import Typer, alignment
from xebench.dpex.kernel_api import AddressSpace


def load(width: int, *, aligned: bool = True) -> Typer:
    """``OpLoad`` of a vector, as a tuple."""

    def typer(array: Any, index: Any) -> Any:
        checks.array(array, checks.NUMBERS, contiguous=True)
        parts, index_type = _index(array, index, width, aligned)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _vector_pointer(context, builder, array, args, parts, width)
            loaded = builder.load(pointer, align=_alignment(array, width, aligned))
            return cgutils.pack_array(builder, spirv.elements_of(builder, loaded))

        return signature(types.UniTuple(array.dtype, width), array, index_type), generate

    return typer


def store(width: int, *, aligned: bool = True) -> Typer:
    """``OpStore`` of a vector, from arguments or from one tuple."""

    def typer(array: Any, index: Any, values: Any) -> Any:
        checks.array(array, checks.NUMBERS, contiguous=True, writable=True)
        parts, index_type = _index(array, index, width, aligned)
        stored = spirv.StoredValues(array, values, width)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _vector_pointer(context, builder, array, args, parts, width)
            data = spirv.vector_of(builder, stored.unpack(context, builder, args[2]))
            builder.store(data, pointer, align=_alignment(array, width, aligned))
            return context.get_dummy_value()

        return signature(types.none, array, index_type, stored.signature), generate

    return typer


def _index(array: Any, index: Any, width: int, aligned: bool) -> tuple[Any, Any]:
    """The index types; a last index that is a constant is checked here."""
    parts, index_type = spirv.index_signature(array, index)
    value = spirv.constant_index(index)
    if aligned and value is not None and value % width:
        raise checks.Misuse(f"index is {value}, but must be a multiple of {width}, or use the unaligned form")
    return parts, index_type


def _vector_pointer(context: Any, builder: Any, array: Any, args: Any, parts: Any, width: int) -> Any:
    pointer = spirv.element_pointer(context, builder, array, args[0], args[1], parts)
    return spirv.cast_pointer(builder, pointer, ir.VectorType(context.get_value_type(array.dtype), width))


def _alignment(array: Any, width: int, aligned: bool) -> int:
    """The alignment to promise; drivers place a LocalAccessor where only its elements are aligned."""
    itemsize = array.dtype.bitwidth // 8
    return alignment(itemsize, width) if aligned and array.addrspace == AddressSpace.GLOBAL else itemsize
