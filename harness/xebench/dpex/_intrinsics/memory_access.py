"""Code generators of ``sub_group.block_*`` (SPV_INTEL_subgroups) and of ``vector``: several elements at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature

from xebench.dpex._intrinsics import checks, spirv
from xebench.dpex._intrinsics.device_function import Typer, alignment
from xebench.dpex.kernel_api import AddressSpace

# The instructions move unsigned integers; other types of the same width are reinterpreted.
_CODES = {8: "h", 16: "t", 32: "j", 64: "m"}


def block_read(width: int) -> Typer:
    """``OpSubgroupBlockReadINTEL`` of *width* elements a lane: a scalar, or a tuple of *width* elements."""

    def typer(array: Any, index: Any) -> Any:
        checks.array(array, checks.NUMBERS, (AddressSpace.GLOBAL,), contiguous=True)
        parts, index_type = _index(array, index, 4)
        returns = array.dtype if width == 1 else types.UniTuple(array.dtype, width)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            unsigned, code = _unsigned(array.dtype)
            pointer = spirv.element_pointer(context, builder, array, args[0], args[1], parts)
            source = spirv.pointer(spirv.cast_pointer(builder, pointer, unsigned), code, const=True)
            # The result's type is no part of a mangled name: DPC++ appends it as _R<type>.
            suffix, result = (
                (f"_R{code}", unsigned) if width == 1 else (f"_RDv{width}_{code}", ir.VectorType(unsigned, width))
            )
            loaded = spirv.call(builder, f"SubgroupBlockReadINTEL{suffix}", result, [source])
            element = context.get_value_type(array.dtype)
            if width == 1:
                return builder.bitcast(loaded, element)
            elements = spirv.elements_of(builder, builder.bitcast(loaded, ir.VectorType(element, width)))
            return cgutils.pack_array(builder, elements)

        return signature(returns, array, index_type), generate

    return typer


def block_write(width: int) -> Typer:
    """``OpSubgroupBlockWriteINTEL`` of *width* elements a lane, given as arguments or as one tuple."""

    def typer(array: Any, index: Any, values: Any) -> Any:
        checks.array(array, checks.NUMBERS, (AddressSpace.GLOBAL,), contiguous=True, writable=True)
        parts, index_type = _index(array, index, 16)
        stored = spirv.StoredValues(array, values, width)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            unsigned, code = _unsigned(array.dtype)
            pointer = spirv.element_pointer(context, builder, array, args[0], args[1], parts)
            target = spirv.pointer(spirv.cast_pointer(builder, pointer, unsigned), code)
            elements = stored.unpack(context, builder, args[2])
            if width == 1:
                data = builder.bitcast(elements[0], unsigned), code
            else:
                vector = spirv.vector_of(builder, elements)
                data = spirv.vector(builder.bitcast(vector, ir.VectorType(unsigned, width)), code)
            spirv.call(builder, "SubgroupBlockWriteINTEL", ir.VoidType(), [target, data])
            return context.get_dummy_value()

        return signature(types.none, array, index_type, stored.signature), generate

    return typer


def _index(array: Any, index: Any, alignment: int) -> tuple[Any, Any]:
    """The index types; a last index that is a constant must be a multiple of *alignment* bytes."""
    parts, index_type = spirv.index_signature(array, index)
    value = spirv.constant_index(index)
    if value is not None and value * array.dtype.bitwidth // 8 % alignment:
        raise checks.Misuse(f"index is {value}, but must be a multiple of {alignment} bytes in {array.dtype}")
    return parts, index_type


def _unsigned(dtype: Any) -> tuple[Any, str]:
    return ir.IntType(dtype.bitwidth), _CODES[dtype.bitwidth]


def load(width: int, *, aligned: bool = True) -> Typer:
    """``OpLoad`` of a vector, as a tuple."""

    def typer(array: Any, index: Any) -> Any:
        checks.array(array, checks.NUMBERS, contiguous=True)
        parts, index_type = _vector_index(array, index, width, aligned)

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
        parts, index_type = _vector_index(array, index, width, aligned)
        stored = spirv.StoredValues(array, values, width)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _vector_pointer(context, builder, array, args, parts, width)
            data = spirv.vector_of(builder, stored.unpack(context, builder, args[2]))
            builder.store(data, pointer, align=_alignment(array, width, aligned))
            return context.get_dummy_value()

        return signature(types.none, array, index_type, stored.signature), generate

    return typer


def _vector_index(array: Any, index: Any, width: int, aligned: bool) -> tuple[Any, Any]:
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
