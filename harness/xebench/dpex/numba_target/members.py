"""Methods of what kernels get from `xebench.kernel_api`: how they are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from inspect import signature as parameters_of
from typing import Any

from numba.core import errors, types
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate

from xebench.dpex._intrinsics.checks import Misuse
from xebench.dpex.target_base.registries import declarations, implementations

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
