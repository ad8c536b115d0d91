"""What numba sees of a function that kernels call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from numba.core import errors, types
from numba.core.datamodel import models

from xebench.dpex._intrinsics.checks import Misuse
from xebench.dpex.target_base.of_stack import TypingContext, target
from xebench.dpex.target_base.of_stack import models as own_models


class DeviceFunctionType(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of one device function: what numba sees of it.

    numba's own ``@intrinsic`` would do, but wraps an error into a page of candidates, and tries every call twice.
    """

    def __init__(
        self, label: str, python_signature: inspect.Signature, typer: Callable[..., tuple[Any, Callable[..., Any]]]
    ) -> None:
        self._label = label
        self._python_signature = python_signature
        self._typer = typer
        self._lowerings: dict[tuple[Any, ...], Callable[..., Any]] = {}
        super().__init__(name=f"xebench.dpex.{label}")

    def get_call_type(self, context: Any, args: Iterable[Any], kws: Mapping[str, Any]) -> Any:
        """Type one call (numba's protocol).

        Raises:
            numba.core.errors.TypingError: with one line that names the function, the offending type and what
                is allowed.
        """
        if not isinstance(context, TypingContext):
            raise errors.TypingError(f"{self._label} can only be called in a kernel or device function")
        try:
            signature, lowering = self._typer(*self._bind(context, args, kws))
        except Misuse as error:
            raise errors.TypingError(f"{self._label}: {error}") from None
        if signature.args not in self._lowerings:
            self._lowerings[signature.args] = lowering
            target.target_context.insert_func_defn([(lowering, lowering, signature.args)])
        return signature.replace(pysig=self._python_signature)

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        """No fixed signatures: the types decide (numba's protocol)."""
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        """The key under which the lowering of *sig* was registered (numba's protocol)."""
        return self._lowerings[sig.args]

    def _bind(self, context: Any, args: Iterable[Any], kws: Mapping[str, Any]) -> list[Any]:
        """The types of all parameters in order; a variable-length one becomes a tuple type."""
        try:
            bound = self._python_signature.bind(*args, **kws)
        except TypeError as error:
            raise Misuse(f"{error}; its signature is {self._python_signature}") from None
        return [self._parameter_type(context, bound, p) for p in self._python_signature.parameters.values()]

    @staticmethod
    def _parameter_type(context: Any, bound: inspect.BoundArguments, parameter: inspect.Parameter) -> Any:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            return types.Tuple(bound.arguments.get(parameter.name, ()))
        if parameter.name in bound.arguments:
            return bound.arguments[parameter.name]
        default = parameter.default
        return types.literal(default) if isinstance(default, bool) else context.resolve_value_type(default)


own_models.register(DeviceFunctionType, models.OpaqueModel)
