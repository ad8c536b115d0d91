"""``AtomicRef`` in kernels: ``OpAtomic*`` on one element, with the order and the scope that the reference has."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature

from xebench.dpex._intrinsics import addresses, atomic_calls, checks, spirv
from xebench.dpex.kernel_names import AddressSpace, MemoryOrder, MemoryScope
from xebench.dpex.numba_target.members import MethodTyper, declare_methods
from xebench.dpex.target_base.device_types import AtomicRefType

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
    parts, index_type = addresses.index_signature(array, index)
    made = AtomicRefType(array.dtype, array.addrspace, order, scope)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        reference = cgutils.create_struct_proxy(made)(context, builder)
        reference.ref = addresses.element_pointer(context, builder, array, args[0], args[1], parts)
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


def _require_number(of: AtomicRefType, val: Any) -> None:
    """An integer would lose what is behind the point of a value, and nobody would see it."""
    plain = types.unliteral(val)
    if isinstance(of.dtype, types.Integer) and not isinstance(plain, types.Integer | types.Boolean):
        raise checks.Misuse(f"the value is {plain}, but the array's dtype is {of.dtype}: convert the value")


def _load(of: AtomicRefType) -> Any:
    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        return _Operands(context, builder, of, this).call(builder, "AtomicLoad")

    return of.dtype, (), generate


def _store(of: AtomicRefType, val: Any) -> Any:
    _require_number(of, val)

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        _Operands(context, builder, of, this).call(builder, "AtomicStore", args[0], returns=ir.VoidType())
        return context.get_dummy_value()

    return types.none, (of.dtype,), generate


def _exchange(of: AtomicRefType, val: Any) -> Any:
    _require_number(of, val)

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        return _Operands(context, builder, of, this).call(builder, "AtomicExchange", args[0])

    return of.dtype, (of.dtype,), generate


def _compare_exchange(of: AtomicRefType, expected_ref: Any, desired: Any, expected_idx: Any = None) -> Any:
    """``expected_ref`` is an array; the element that differs is put into it. Bits are compared, as in C++."""
    array = checks.array(expected_ref, (of.dtype,), tuple(AddressSpace), writable=True)
    index = types.literal(0) if expected_idx is None else expected_idx
    parts, index_type = addresses.index_signature(array, index)
    bits, code = ir.IntType(of.dtype.bitwidth), "j" if of.dtype.bitwidth == 32 else "m"

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        position = args[2] if expected_idx is not None else context.get_constant(types.intp, 0)
        if expected_idx is None:
            pointer = addresses.element_pointer(context, builder, array, args[0], position, [types.intp])
        else:
            pointer = addresses.element_pointer(context, builder, array, args[0], position, parts)
        pointer = addresses.cast_pointer(builder, pointer, bits)
        wanted = builder.load(pointer)
        operands = _Operands(context, builder, of, this)
        element = spirv.pointer(addresses.cast_pointer(builder, operands.pointer[0], bits), code)
        compared = [element, operands.scope, operands.semantics, operands.semantics]
        values = [(builder.bitcast(args[1], bits), code), (wanted, code)]
        old = spirv.call(builder, "AtomicCompareExchange", bits, [*compared, *values])
        builder.store(old, pointer)
        return builder.icmp_unsigned("==", old, wanted)

    further = () if expected_idx is None else (index_type,)
    return types.boolean, (array, of.dtype, *further), generate


def _fetch(operator: str) -> MethodTyper:
    def typer(of: AtomicRefType, val: Any) -> Any:
        if operator in atomic_calls.BITWISE and not isinstance(of.dtype, types.Integer):
            raise checks.Misuse(f"the array's dtype is {of.dtype}, but must be an integer")
        _require_number(of, val)

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
