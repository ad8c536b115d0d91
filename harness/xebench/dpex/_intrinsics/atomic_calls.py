"""Code generators of ``atomics``: ``OpAtomic*`` with the scope and memory semantics that the caller asked for."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.typing import signature

from xebench.dpex._intrinsics import checks, spirv
from xebench.dpex._intrinsics.device_function import Typer
from xebench.dpex._intrinsics.spirv import Scope, Semantics
from xebench.dpex.kernel_api import AddressSpace, MemoryOrder, MemoryScope

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
        parts, index_type = spirv.index_signature(array, index)
        plain = value_type(array.dtype, value)
        semantics = SEMANTICS[checks.choice("order", order, MemoryOrder, MemoryOrder.RELAXED)] | Semantics.ALL_MEMORY
        spirv_scope = SCOPES[checks.choice("scope", scope, MemoryScope, MemoryScope.DEVICE)]

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            value = context.cast(builder, args[2], plain, array.dtype)
            instruction, operand = modification(builder, operator, array.dtype, value)
            element = spirv.typed(operand, array.dtype)
            pointer = spirv.element_pointer(context, builder, array, args[0], args[1], parts)
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
    """Refuse 64-bit atomics on the memory of a device without them; a LocalAccessor does not know its device."""
    is_global = array.addrspace == AddressSpace.GLOBAL
    if is_global and array.dtype.bitwidth == 64 and not array.queue.device_has_aspect_atomic64:
        raise checks.Misuse(f"the array's dtype is {array.dtype}, but the device has no 64-bit atomics")
