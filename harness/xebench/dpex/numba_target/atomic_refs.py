"""``AtomicRef``, ``group_barrier`` and ``atomic_fence`` in kernels.

``OpAtomic*`` and barriers with their order and scope.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature

from xebench.dpex._intrinsics import atomic_calls, checks, spirv
from xebench.dpex._intrinsics.spirv import Scope, Semantics
from xebench.dpex.kernel_names import AddressSpace, MemoryOrder, MemoryScope
from xebench.dpex.numba_target.items import MethodTyper, declare_methods
from xebench.dpex.target_base.device_types import AtomicRefType, GroupType

_OPERATORS: Final = ("Add", "Sub", "Min", "Max", "And", "Or", "Xor")


def atomic_ref(ref: Any, index: Any, memory_order: Any, memory_scope: Any, address_space: Any) -> Any:
    """A call of ``AtomicRef``."""
    array = checks.array(ref, checks.WORDS + checks.LONGS + checks.FLOATS)
    order = checks.choice("memory_order", memory_order, MemoryOrder, MemoryOrder.RELAXED)
    scope = checks.choice("memory_scope", memory_scope, MemoryScope, MemoryScope.DEVICE)
    space = checks.choice("address_space", address_space, AddressSpace, AddressSpace(array.addrspace))
    if space not in (array.addrspace, AddressSpace.GENERIC):
        raise checks.Misuse(f"address_space is {space.name}, but the array is in {AddressSpace(array.addrspace).name}")
    atomic_calls.require_wide_atomics(array)
    parts, index_type = spirv.index_signature(array, index)
    made = AtomicRefType(array.dtype, array.addrspace, order, scope)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        reference = cgutils.create_struct_proxy(made)(context, builder)
        reference.ref = spirv.element_pointer(context, builder, array, args[0], args[1], parts)
        return reference._getvalue()

    return signature(made, array, index_type, memory_order, memory_scope, address_space), generate


class _Operands:
    """The first operands of every atomic instruction: the element, the scope, the memory semantics."""

    def __init__(self, context: Any, builder: Any, of: AtomicRefType, value: Any) -> None:
        reference = cgutils.create_struct_proxy(of)(context, builder, value=value)
        self.type = context.get_value_type(of.dtype)
        _, self.code = spirv.typed(None, of.dtype)
        self.pointer = spirv.pointer(reference.ref, self.code)
        self.scope = spirv.constant(atomic_calls.SCOPES[MemoryScope(of.scope)])
        semantics = atomic_calls.SEMANTICS[MemoryOrder(of.order)] | spirv.Semantics.ALL_MEMORY
        self.semantics = spirv.constant(semantics)

    def call(self, builder: Any, instruction: str, *values: Any, returns: Any = None) -> Any:
        """Emit an instruction with these and further operands of the element's type."""
        further = [(value, self.code) for value in values]
        operands = [self.pointer, self.scope, self.semantics, *further]
        return spirv.call(builder, instruction, returns or self.type, operands)


class _Bits(_Operands):
    """Of an instruction that computes nothing, on the bits of the element: OpenCL C has few of them for floats."""

    def __init__(self, context: Any, builder: Any, of: AtomicRefType, value: Any) -> None:
        super().__init__(context, builder, of, value)
        self.number, self.type = self.type, ir.IntType(of.dtype.bitwidth)
        self.code = "j" if of.dtype.bitwidth == 32 else "m"
        self.pointer = spirv.pointer(spirv.cast_pointer(builder, self.pointer[0], self.type), self.code)


def _load(of: AtomicRefType) -> Any:
    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        bits = _Bits(context, builder, of, this)
        return builder.bitcast(bits.call(builder, "AtomicLoad"), bits.number)

    return of.dtype, (), generate


def _store(of: AtomicRefType, val: Any) -> Any:
    atomic_calls.value_type(of.dtype, val)

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        bits = _Bits(context, builder, of, this)
        bits.call(builder, "AtomicStore", builder.bitcast(args[0], bits.type), returns=ir.VoidType())
        return context.get_dummy_value()

    return types.none, (of.dtype,), generate


def _exchange(of: AtomicRefType, val: Any) -> Any:
    atomic_calls.value_type(of.dtype, val)

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        bits = _Bits(context, builder, of, this)
        old = bits.call(builder, "AtomicExchange", builder.bitcast(args[0], bits.type))
        return builder.bitcast(old, bits.number)

    return of.dtype, (of.dtype,), generate


def _compare_exchange(of: AtomicRefType, expected_ref: Any, desired: Any, expected_idx: Any = None) -> Any:
    """``expected_ref`` is an array; the element that differs is put into it. Bits are compared, as in C++."""
    array = checks.array(expected_ref, (of.dtype,), tuple(AddressSpace), writable=True)
    index = types.literal(0) if expected_idx is None else expected_idx
    parts, index_type = spirv.index_signature(array, index)

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        position = args[2] if expected_idx is not None else context.get_constant(types.intp, 0)
        bits = _Bits(context, builder, of, this)
        position_types = [types.intp] if expected_idx is None else parts
        pointer = spirv.element_pointer(context, builder, array, args[0], position, position_types)
        pointer = spirv.cast_pointer(builder, pointer, bits.type)
        wanted = builder.load(pointer)
        compared = [bits.pointer, bits.scope, bits.semantics, bits.semantics]
        values = [(builder.bitcast(args[1], bits.type), bits.code), (wanted, bits.code)]
        old = spirv.call(builder, "AtomicCompareExchange", bits.type, [*compared, *values])
        builder.store(old, pointer)
        return builder.icmp_unsigned("==", old, wanted)

    further = () if expected_idx is None else (index_type,)
    return types.boolean, (array, of.dtype, *further), generate


def _fetch(operator: str) -> MethodTyper:
    def typer(of: AtomicRefType, val: Any) -> Any:
        if operator in atomic_calls.BITWISE and not isinstance(of.dtype, types.Integer):
            raise checks.Misuse(f"the array's dtype is {of.dtype}, but must be an integer")
        atomic_calls.value_type(of.dtype, val)

        def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
            instruction, operand = atomic_calls.modification(builder, operator, of.dtype, args[0])
            return _Operands(context, builder, of, this).call(builder, instruction, operand)

        return of.dtype, (of.dtype,), generate

    return typer


declare_methods(
    AtomicRefType,
    {
        "load": _load,
        "store": _store,
        "exchange": _exchange,
        "compare_exchange": _compare_exchange,
        **{f"fetch_{operator.lower()}": _fetch(operator) for operator in _OPERATORS},
    },
)


def group_barrier(group: Any, fence_scope: Any) -> Any:
    """``OpControlBarrier`` of a work-group; what its work-items wrote before is visible after."""
    if not isinstance(group, GroupType):
        raise checks.Misuse(f"group is {group}, but must be a Group: give item.get_group()")
    scope = checks.choice("fence_scope", fence_scope, MemoryScope, MemoryScope.WORK_GROUP)
    semantics = Semantics.SEQUENTIALLY_CONSISTENT | Semantics.ALL_MEMORY

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        operands = [Scope.WORK_GROUP, atomic_calls.SCOPES[scope], semantics]
        spirv.call(builder, "ControlBarrier", ir.VoidType(), [spirv.constant(operand) for operand in operands])
        return context.get_dummy_value()

    return signature(types.none, group, fence_scope), generate


def atomic_fence(memory_order: Any, memory_scope: Any) -> Any:
    """``OpMemoryBarrier``."""
    order = checks.choice("memory_order", memory_order, MemoryOrder, MemoryOrder.RELAXED)
    scope = checks.choice("memory_scope", memory_scope, MemoryScope, MemoryScope.DEVICE)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        operands = [atomic_calls.SCOPES[scope], atomic_calls.SEMANTICS[order] | Semantics.ALL_MEMORY]
        spirv.call(builder, "MemoryBarrier", ir.VoidType(), [spirv.constant(operand) for operand in operands])
        return context.get_dummy_value()

    return signature(types.none, memory_order, memory_scope), generate
