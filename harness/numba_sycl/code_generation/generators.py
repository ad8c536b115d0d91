"""Code generators of the functions that kernels call: of groups, of memory, and atomic operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature

from numba_sycl.code_generation import checks, spirv
from numba_sycl.code_generation.device_function import Typer, alignment
from numba_sycl.code_generation.spirv import Scope, Semantics
from numba_sycl.kernel_api import AddressSpace, MemoryOrder, MemoryScope


class GroupOperation(IntEnum):
    """SPIR-V's kinds of group operations (SPIR-V specification, 3.28)."""

    REDUCE = 0
    INCLUSIVE_SCAN = 1
    EXCLUSIVE_SCAN = 2


def sub_group_variable(name: str) -> Typer:
    """A read of a built-in variable, as int32."""

    def typer() -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return spirv.built_in(builder, name)

        return signature(types.int32), generate

    return typer


def sub_group_barrier() -> Any:
    """``OpControlBarrier`` among the lanes, which also orders their memory accesses."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        scope = spirv.constant(Scope.SUB_GROUP)
        semantics = spirv.constant(Semantics.SEQUENTIALLY_CONSISTENT | Semantics.ALL_MEMORY)
        spirv.call(builder, "ControlBarrier", ir.VoidType(), [scope, scope, semantics])
        return context.get_dummy_value()

    return signature(types.none), generate


def shuffle(instruction: str, operand: str) -> Typer:
    """A lane's value in others of its sub-group; *operand* names the second parameter."""

    def typer(value: Any, lane: Any) -> Any:
        value_type = checks.one_of("value", value, checks.NUMBERS)
        lane_type = checks.integer(operand, lane)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            lane_value = spirv.resize(builder, args[1], lane_type, 32)
            operands = [spirv.constant(Scope.SUB_GROUP), spirv.typed(args[0], value_type), (lane_value, "j")]
            return spirv.call(builder, instruction, args[0].type, operands)

        return signature(value_type, value_type, lane_type), generate

    return typer


def work_group_broadcast(value: Any, local_id: Any) -> Any:
    """``OpGroupBroadcast`` from a work-item, whose local id is an integer or a tuple of two or three."""
    value_type = checks.one_of("value", value, checks.WIDE_NUMBERS)
    is_tuple = isinstance(local_id, types.BaseTuple)
    parts = tuple(local_id.types) if is_tuple else (local_id,)
    if len(parts) not in (1, 2, 3):
        raise checks.Misuse(f"local_id has {len(parts)} parts, but a work-group has one to three dimensions")
    id_types = [checks.integer("local_id", part) for part in parts]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        ids = cgutils.unpack_tuple(builder, args[1]) if is_tuple else [args[1]]
        ids = [spirv.resize(builder, part, ty, 64) for part, ty in zip(ids, id_types, strict=True)]
        source = (ids[0], "m") if len(ids) == 1 else spirv.vector(spirv.vector_of(builder, ids), "m")
        operands = [spirv.constant(Scope.WORK_GROUP), spirv.typed(args[0], value_type), source]
        return spirv.call(builder, "GroupBroadcast", args[0].type, operands)

    return signature(value_type, value_type, types.unliteral(local_id)), generate


@dataclass(frozen=True)
class GroupFunctions:
    """The functions that sub-groups and work-groups share.

    Attributes:
        scope: sub-group or work-group.
        numbers: types that its arithmetic takes.
    """

    scope: Scope
    numbers: tuple[Any, ...]

    def arithmetic(self, operator: str, kind: GroupOperation) -> Typer:
        """``OpGroup{I,F,S,U}<operator>``: a reduction or scan with the operator Add, Min or Max."""

        def typer(value: Any) -> Any:
            value_type = checks.one_of("value", value, self.numbers)

            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                operands = [spirv.constant(self.scope), spirv.constant(kind), spirv.typed(args[0], value_type)]
                instruction = f"Group{_operand_kind(operator, value_type)}{operator}"
                return spirv.call(builder, instruction, args[0].type, operands)

            return signature(value_type, value_type), generate

        return typer

    def vote(self, instruction: str) -> Typer:
        """``OpGroupAny`` or ``OpGroupAll``."""

        def typer(predicate: Any) -> Any:
            predicate_type = checks.predicate("predicate", predicate)

            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                condition = spirv.as_condition(builder, args[0]), "b"
                return spirv.call(builder, instruction, spirv.INT1, [spirv.constant(self.scope), condition])

            return signature(types.boolean, predicate_type), generate

        return typer


def _operand_kind(operator: str, value_type: Any) -> str:
    if isinstance(value_type, types.Float):
        return "F"
    if operator == "Add":
        return "I"
    return "S" if value_type.signed else "U"


def sub_group_ballot(predicate: Any) -> Any:
    """``OpGroupNonUniformBallot``; the first two of its four words hold every lane that a device has."""
    predicate_type = checks.predicate("predicate", predicate)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        condition = spirv.as_condition(builder, args[0]), "b"
        operands = [spirv.constant(Scope.SUB_GROUP), condition]
        words = spirv.call(builder, "GroupNonUniformBallot", ir.VectorType(spirv.INT32, 4), operands)
        low, high = (builder.zext(word, spirv.INT64) for word in spirv.elements_of(builder, words)[:2])
        return builder.or_(low, builder.shl(high, spirv.INT64(32)))

    return signature(types.uint64, predicate_type), generate


def extended(instruction: str, names: Sequence[str], allowed: Sequence[Any]) -> Typer:
    """An instruction whose operands, called *names*, and result have one of the *allowed* floating-point types."""

    def typer(*operands: Any) -> Any:
        first, *others = zip(names, operands, strict=True)
        operand_type = checks.one_of(*first, allowed)
        for name, operand in others:
            if types.unliteral(operand) != operand_type:
                plain = types.unliteral(operand)
                raise checks.Misuse(f"{name} is {plain}, but must be {operand_type} like {names[0]}")

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            typed = [spirv.typed(value, operand_type) for value in args]
            return spirv.call(builder, f"ocl_{instruction}", args[0].type, typed, convergent=False)

        return signature(operand_type, *(operand_type for _ in operands)), generate

    return typer


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
        stored = checks.StoredValues(array, values, width)

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
    parts, index_type = checks.index_signature(array, index)
    value = checks.constant_index(index)
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
        stored = checks.StoredValues(array, values, width)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _vector_pointer(context, builder, array, args, parts, width)
            data = spirv.vector_of(builder, stored.unpack(context, builder, args[2]))
            builder.store(data, pointer, align=_alignment(array, width, aligned))
            return context.get_dummy_value()

        return signature(types.none, array, index_type, stored.signature), generate

    return typer


def _vector_index(array: Any, index: Any, width: int, aligned: bool) -> tuple[Any, Any]:
    """The index types; a last index that is a constant is checked here."""
    parts, index_type = checks.index_signature(array, index)
    value = checks.constant_index(index)
    if aligned and value is not None and value % width:
        raise checks.Misuse(f"index is {value}, but must be a multiple of {width}, or use the unaligned form")
    return parts, index_type


def _vector_pointer(context: Any, builder: Any, array: Any, args: Any, parts: Any, width: int) -> Any:
    pointer = spirv.element_pointer(context, builder, array, args[0], args[1], parts)
    return spirv.cast_pointer(builder, pointer, ir.VectorType(context.get_value_type(array.dtype), width))


def _alignment(array: Any, width: int, aligned: bool) -> int:
    itemsize: int = array.dtype.bitwidth // 8
    return alignment(itemsize, width, local=array.addrspace == AddressSpace.LOCAL) if aligned else itemsize


SEMANTICS = {
    MemoryOrder.RELAXED: Semantics.RELAXED,
    MemoryOrder.ACQUIRE: Semantics.ACQUIRE,
    MemoryOrder.RELEASE: Semantics.RELEASE,
    MemoryOrder.ACQ_REL: Semantics.ACQUIRE_RELEASE,
    MemoryOrder.SEQ_CST: Semantics.SEQUENTIALLY_CONSISTENT,
}
SCOPES = {
    MemoryScope.WORK_ITEM: Scope.INVOCATION,
    MemoryScope.SUB_GROUP: Scope.SUB_GROUP,
    MemoryScope.WORK_GROUP: Scope.WORK_GROUP,
    MemoryScope.DEVICE: Scope.DEVICE,
    MemoryScope.SYSTEM: Scope.CROSS_DEVICE,
}
_INTEGERS = checks.WORDS + checks.LONGS
_NUMBERS = _INTEGERS + checks.FLOATS
BITWISE = ("And", "Or", "Xor")


def fetch(operator: str) -> Typer:
    """Read, modify, write one element; the result is the old value."""

    def typer(array: Any, index: Any, value: Any, order: Any, scope: Any) -> Any:
        checks.array(array, _INTEGERS if operator in BITWISE else _NUMBERS, writable=True)
        require_wide_atomics(array)
        parts, index_type = checks.index_signature(array, index)
        plain = value_type(array.dtype, value)
        semantics = SEMANTICS[checks.choice("order", order, MemoryOrder, MemoryOrder.RELAXED)] | Semantics.ALL_MEMORY
        spirv_scope = SCOPES[checks.choice("scope", scope, MemoryScope, MemoryScope.DEVICE)]

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            value = context.cast(builder, args[2], plain, array.dtype)
            instruction, operand = modification(builder, operator, array.dtype, value)
            element = spirv.typed(operand, array.dtype)
            pointer = spirv.element_pointer(context, builder, array, args[0], args[1], parts, wraparound=True)
            operands = [
                spirv.pointer(pointer, element[1]),
                spirv.constant(spirv_scope),
                spirv.constant(semantics),
                element,
            ]
            return spirv.call(builder, instruction, operand.type, operands)

        return signature(array.dtype, array, index_type, plain, order, scope), generate

    return typer


def modification(builder: Any, operator: str, dtype: Any, value: Any) -> tuple[str, Any]:
    """The instruction that modifies an element, and its operand."""
    if isinstance(dtype, types.Float):
        if operator == "Sub":  # there is no AtomicFSub
            return "AtomicFAddEXT", builder.fneg(value)
        return f"AtomicF{operator}EXT", value
    if operator in ("Add", "Sub"):
        return f"AtomicI{operator}", value
    sign = "" if operator in BITWISE else "S" if dtype.signed else "U"
    return f"Atomic{sign}{operator}", value


def value_type(dtype: Any, value: Any) -> Any:
    """The operand's type; like an assignment it is converted, but never from a float to an integer."""
    plain = types.unliteral(value)
    allowed: tuple[type, ...] = (types.Integer, types.Boolean)
    if isinstance(dtype, types.Float):
        allowed += (types.Float,)
    if not isinstance(plain, allowed):
        raise checks.Misuse(f"value is {plain}, but the array holds {dtype}")
    return plain


def require_wide_atomics(array: Any) -> None:
    """Refuse 64-bit atomics on the memory of a device without them; a LocalAccessor has no device."""
    is_global = array.addrspace == AddressSpace.GLOBAL
    if is_global and array.dtype.bitwidth == 64 and not array.queue.device_has_aspect_atomic64:
        raise checks.Misuse(f"the array's dtype is {array.dtype}, but the device has no 64-bit atomics")
