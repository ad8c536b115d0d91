"""Code generators of ``sub_group`` and ``work_group``, except for block access, and of ``native``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature

from xebench.dpex._intrinsics import checks, spirv
from xebench.dpex._intrinsics.device_function import Typer
from xebench.dpex._intrinsics.spirv import Scope, Semantics


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
        scope: which of the two.
        numbers: the types that its arithmetic takes.
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
