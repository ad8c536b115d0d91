"""``Item``, ``NdItem`` and ``Group`` in kernels: ids, extents, and how such methods are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from inspect import signature as parameters_of
from typing import Any, Final

from numba.core import errors, types
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate

from xebench.dpex._intrinsics import checks
from xebench.dpex._intrinsics.checks import Misuse
from xebench.dpex.numba_target.calls import INT64, work_item_query
from xebench.dpex.target_base.device_types import NOTHING, GroupType, IndexSpaceType, ItemType, NdItemType
from xebench.dpex.target_base.integers import declarations, implementations

#: Types a call: from the owner's type and those of the arguments to the result's type, those that the arguments are
#: converted to, and the code generator, which takes ``(context, builder, owner, arguments)``.
MethodTyper = Callable[..., tuple[Any, tuple[Any, ...], Callable[..., Any]]]


def _template(owner: type, name: str, typer: MethodTyper) -> type:
    """What numba types calls of a method by."""
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
    """How many there are."""

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
