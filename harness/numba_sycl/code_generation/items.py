"""``Item``, ``NdItem`` and ``Group`` in kernels: ids, extents, and how such methods are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from inspect import signature as parameters_of
from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate

from numba_sycl.code_generation import checks, generators, spirv
from numba_sycl.code_generation.calls import INT64, work_item_query
from numba_sycl.code_generation.checks import Misuse
from numba_sycl.code_generation.device_types import (
    NOTHING,
    AtomicRefType,
    GroupType,
    IndexSpaceType,
    ItemType,
    NdItemType,
    declarations,
    implementations,
)
from numba_sycl.code_generation.spirv import Scope, Semantics
from numba_sycl.kernel_names import AddressSpace, MemoryOrder, MemoryScope

#: Types a call: from the owner's type and those of the arguments to the result's type, those that the arguments are
#: converted to, and the code generator, which takes ``(context, builder, owner, arguments)``.
MethodTyper = Callable[..., tuple[Any, tuple[Any, ...], Callable[..., Any]]]


def _template(owner: type, name: str, typer: MethodTyper) -> type:
    """The template by which numba types calls of a method."""
    generators: dict[Any, Callable[..., Any]] = {}
    refused: dict[Any, str] = {}
    label = f"{owner.__name__.removesuffix('Type')}.{name}"
    parameters = parameters_of(typer)

    class Template(AbstractTemplate):  # type: ignore[misc]
        key = label
        prefer_literal = True

        def generic(self, args: tuple[Any, ...], kws: Mapping[str, Any]) -> Any:
            # numba tries types with literal values first, then plain ones, which say less: what was refused stays so
            again = refused.pop((self.this, *args), None)
            if again:
                raise errors.TypingError(again)
            try:
                given = parameters.bind(self.this, *args, **kws).arguments
                returns, converted, generate = typer(**given)
            except (Misuse, TypeError) as error:  # or another number of arguments
                message = f"{label}: {str(error).partition('() ')[2] or error}"
                refused[self.this, *map(types.unliteral, args)] = message
                raise errors.TypingError(message) from None
            names = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in list(given)[1:]]
            made = signature(returns, *converted, recvr=self.this).replace(pysig=Signature(names))
            generators[self.this, converted] = generate
            return made

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return generators[sig.args[0], tuple(sig.args[1:])](context, builder, args[0], args[1:])

    implementations.lower(label, owner, types.VarArg(types.Any))(lower)
    return Template


def declare_methods(owner: type, methods: Mapping[str, MethodTyper]) -> None:
    """Give a class of types its methods, by name."""
    templates = {name: _template(owner, name, typer) for name, typer in methods.items()}

    class Attributes(AttributeTemplate):  # type: ignore[misc]
        key = owner

        def generic_resolve(self, value: Any, attr: str) -> Any:
            return types.BoundFunction(templates[attr], value) if attr in templates else None

    declarations.register_attr(Attributes)


# OpenCL's functions of an id and of an extent.
_GLOBAL: Final = ("get_global_id", "get_global_size")

_LOCAL: Final = ("get_local_id", "get_local_size")

_GROUP: Final = ("get_group_id", "get_num_groups")


def _in_dimension(function: str) -> MethodTyper:
    """An id or an extent in one dimension, which is a constant as a rule."""

    def typer(of: IndexSpaceType, dim: Any) -> Any:
        if not isinstance(dim, types.Literal):
            return types.intp, (checks.integer("dim", dim),), _in_any(function, of.ndim)
        dimension = checks.literal("dim", dim, int)
        if not 0 <= dimension < of.ndim:
            raise checks.Misuse(f"dim is {dimension}, but the index space has {of.ndim} dimension(s)")

        def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
            return work_item_query(builder, function, dimension)

        return types.intp, (dim,), generate

    return typer


def _in_any(function: str, ndim: int) -> Callable[..., Any]:
    """The same in a dimension that is known when the kernel runs."""

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        chosen = work_item_query(builder, function, 0)
        for dimension in range(1, ndim):
            is_it = builder.icmp_unsigned("==", args[0], args[0].type(dimension))
            chosen = builder.select(is_it, work_item_query(builder, function, dimension), chosen)
        return chosen

    return generate


def _linear_id(functions: tuple[str, str]) -> MethodTyper:
    """The ids as one number; the last dimension's neighbours are neighbours in it."""
    id_function, extent_function = functions

    def generate(context: Any, builder: Any, of: IndexSpaceType) -> Any:
        total = work_item_query(builder, id_function, 0)
        for dimension in range(1, of.ndim):
            total = builder.mul(total, work_item_query(builder, extent_function, dimension))
            total = builder.add(total, work_item_query(builder, id_function, dimension))
        return total

    return _without_arguments(generate)


def _linear_range(functions: tuple[str, str]) -> MethodTyper:
    """The number of work-items."""

    def generate(context: Any, builder: Any, of: IndexSpaceType) -> Any:
        total = INT64(1)
        for dimension in range(of.ndim):
            total = builder.mul(total, work_item_query(builder, functions[1], dimension))
        return total

    return _without_arguments(generate)


def _without_arguments(generate: Callable[[Any, Any, IndexSpaceType], Any]) -> MethodTyper:
    def typer(of: IndexSpaceType) -> Any:
        return types.intp, (), lambda context, builder, this, args: generate(context, builder, of)

    return typer


def _group(of: IndexSpaceType) -> Any:
    return GroupType(of.ndim), (), lambda context, builder, this, args: NOTHING


declare_methods(
    ItemType,
    {
        "get_id": _in_dimension(_GLOBAL[0]),
        "get_range": _in_dimension(_GLOBAL[1]),
        "get_linear_id": _linear_id(_GLOBAL),
        "get_linear_range": _linear_range(_GLOBAL),
    },
)

declare_methods(
    NdItemType,
    {
        "get_global_id": _in_dimension(_GLOBAL[0]),
        "get_global_range": _in_dimension(_GLOBAL[1]),
        "get_global_linear_id": _linear_id(_GLOBAL),
        "get_global_linear_range": _linear_range(_GLOBAL),
        "get_local_id": _in_dimension(_LOCAL[0]),
        "get_local_range": _in_dimension(_LOCAL[1]),
        "get_local_linear_id": _linear_id(_LOCAL),
        "get_local_linear_range": _linear_range(_LOCAL),
        "get_group": _group,
    },
)

declare_methods(
    GroupType,
    {
        "get_group_id": _in_dimension(_GROUP[0]),
        "get_group_range": _in_dimension(_GROUP[1]),
        "get_group_linear_id": _linear_id(_GROUP),
        "get_group_linear_range": _linear_range(_GROUP),
        "get_local_range": _in_dimension(_LOCAL[1]),
        "get_local_linear_range": _linear_range(_LOCAL),
    },
)


@declarations.register_attr
class _Dimensions(AttributeTemplate):  # type: ignore[misc]
    key = IndexSpaceType

    def resolve_dimensions(self, of: IndexSpaceType) -> Any:
        return types.intp


def _dimensions(context: Any, builder: Any, of: IndexSpaceType, this: Any) -> Any:
    return context.get_constant(types.intp, of.ndim)


implementations.lower_getattr(IndexSpaceType, "dimensions")(_dimensions)


_OPERATORS: Final = ("Add", "Sub", "Min", "Max", "And", "Or", "Xor")


def atomic_ref(ref: Any, index: Any, memory_order: Any, memory_scope: Any, address_space: Any) -> Any:
    """A call of ``AtomicRef``."""
    array = checks.array(ref, checks.WORDS + checks.LONGS + checks.FLOATS)
    order = checks.choice("memory_order", memory_order, MemoryOrder, MemoryOrder.RELAXED)
    scope = checks.choice("memory_scope", memory_scope, MemoryScope, MemoryScope.DEVICE)
    space = checks.choice("address_space", address_space, AddressSpace, AddressSpace(array.addrspace))
    if space not in (array.addrspace, AddressSpace.GENERIC):
        raise checks.Misuse(f"address_space is {space.name}, but the array is in {AddressSpace(array.addrspace).name}")
    generators.require_wide_atomics(array)
    parts, index_type = checks.index_signature(array, index)
    made = AtomicRefType(array.dtype, array.addrspace, order, scope)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        reference = cgutils.create_struct_proxy(made)(context, builder)
        reference.ref = spirv.element_pointer(context, builder, array, args[0], args[1], parts, wraparound=True)
        return reference._getvalue()

    return signature(made, array, index_type, memory_order, memory_scope, address_space), generate


class _Operands:
    """The first operands of every atomic instruction: the element, the scope, the memory semantics."""

    def __init__(self, context: Any, builder: Any, of: AtomicRefType, value: Any) -> None:
        reference = cgutils.create_struct_proxy(of)(context, builder, value=value)
        self.type = context.get_value_type(of.dtype)
        _, self.code = spirv.typed(None, of.dtype)
        self.pointer = spirv.pointer(reference.ref, self.code)
        self.scope = spirv.constant(generators.SCOPES[MemoryScope(of.scope)])
        semantics = generators.SEMANTICS[MemoryOrder(of.order)] | spirv.Semantics.ALL_MEMORY
        self.semantics = spirv.constant(semantics)

    def call(self, builder: Any, instruction: str, *values: Any, returns: Any = None) -> Any:
        """Emit an instruction with these and further operands of the element's type."""
        further = [(value, self.code) for value in values]
        operands = [self.pointer, self.scope, self.semantics, *further]
        return spirv.call(builder, instruction, returns or self.type, operands)


class _Bits(_Operands):
    """Operands of an instruction that moves the element's bits: OpenCL C has few such instructions for floats."""

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
    generators.value_type(of.dtype, val)

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        bits = _Bits(context, builder, of, this)
        bits.call(builder, "AtomicStore", builder.bitcast(args[0], bits.type), returns=ir.VoidType())
        return context.get_dummy_value()

    return types.none, (of.dtype,), generate


def _exchange(of: AtomicRefType, val: Any) -> Any:
    generators.value_type(of.dtype, val)

    def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
        bits = _Bits(context, builder, of, this)
        old = bits.call(builder, "AtomicExchange", builder.bitcast(args[0], bits.type))
        return builder.bitcast(old, bits.number)

    return of.dtype, (of.dtype,), generate


def _compare_exchange(of: AtomicRefType, expected_ref: Any, desired: Any, expected_idx: Any = None) -> Any:
    """``expected_ref`` is an array; the element that differs is put into it. Bits are compared, as in C++."""
    array = checks.array(expected_ref, (of.dtype,), tuple(AddressSpace), writable=True)
    index = types.literal(0) if expected_idx is None else expected_idx
    parts, index_type = checks.index_signature(array, index)

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
        if operator in generators.BITWISE and not isinstance(of.dtype, types.Integer):
            raise checks.Misuse(f"the array's dtype is {of.dtype}, but must be an integer")
        generators.value_type(of.dtype, val)

        def generate(context: Any, builder: Any, this: Any, args: Any) -> Any:
            instruction, operand = generators.modification(builder, operator, of.dtype, args[0])
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
        operands = [Scope.WORK_GROUP, generators.SCOPES[scope], semantics]
        spirv.call(builder, "ControlBarrier", ir.VoidType(), [spirv.constant(operand) for operand in operands])
        return context.get_dummy_value()

    return signature(types.none, group, fence_scope), generate


def atomic_fence(memory_order: Any, memory_scope: Any) -> Any:
    """``OpMemoryBarrier``."""
    order = checks.choice("memory_order", memory_order, MemoryOrder, MemoryOrder.RELAXED)
    scope = checks.choice("memory_scope", memory_scope, MemoryScope, MemoryScope.DEVICE)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        operands = [generators.SCOPES[scope], generators.SEMANTICS[order] | Semantics.ALL_MEMORY]
        spirv.call(builder, "MemoryBarrier", ir.VoidType(), [spirv.constant(operand) for operand in operands])
        return context.get_dummy_value()

    return signature(types.none, memory_order, memory_scope), generate
