"""A function that kernels call: Python runs its simulation, numba types a call of it and generates its code."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from numba.core import errors, types
from numba.core.datamodel import models
from numba_dpex.core.descriptor import dpex_kernel_target
from numba_dpex.kernel_api_impl.spirv.target import SPIRVTypingContext

from harness.dpex._intrinsics.checks import Misuse

P = ParamSpec("P")
R = TypeVar("R")

#: Types a call: from the numba types of all parameters to numba's signature and the code generator, which takes
#: ``(context, builder, signature, arguments)`` like any numba lowering.
Typer = Callable[..., tuple[Any, Callable[..., Any]]]


def device_function(typer: Typer) -> Callable[[Callable[P, R]], DeviceFunction[P, R]]:
    """Make a function callable in kernels; its body is what plain Python (simulation) runs.

    Args:
        typer: what a call of it in a kernel becomes.
    """
    return lambda function: DeviceFunction(function, typer)


class DeviceFunction(Generic[P, R]):
    """A Python function that is also known to the kernel compiler.

    Attributes:
        label: the name in messages, such as ``sub_group.reduce_add``.
    """

    __name__: str

    def __init__(self, function: Callable[P, R], typer: Typer) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._typer = typer
        self.label = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"

    @classmethod
    def variant(
        cls, template: Callable[Concatenate[Any, P], R], chosen: Any, typer: Typer, name: str, **words: object
    ) -> DeviceFunction[P, R]:
        """One of several functions that differ in one thing, such as ``load2`` of ``load2`` to ``load16``.

        Args:
            template: the simulation of all of them, in the module and with the docstring of the function to be made.
            chosen: the template's first argument, in which the functions differ.
            typer: what a call of it in a kernel becomes.
            name: the function's name.
            words: what stands in braces in the template's docstring.
        """
        function = functools.partial(template, chosen)
        doc = (template.__doc__ or "").format(**words)
        vars(function).update(__module__=template.__module__, __name__=name, __qualname__=name, __doc__=doc)
        return cls(function, typer)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> DeviceFunction[P, R]:
        # With this, inspect and help() treat the object as the routine that it is.
        return self

    def __repr__(self) -> str:
        return f"<device function {self.label}>"

    @functools.cached_property
    def _numba_type_(self) -> DeviceFunctionType:
        # numba asks for this attribute when it types a global that it does not know.
        return DeviceFunctionType(self.label, inspect.signature(self._function), self._typer)


class DeviceFunctionType(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of one device function: what numba sees of it.

    numba's own ``@intrinsic`` would do, but wraps an error into a page of candidates, and tries every call twice.
    """

    def __init__(self, label: str, python_signature: inspect.Signature, typer: Typer) -> None:
        self._label = label
        self._python_signature = python_signature
        self._typer = typer
        self._lowerings: dict[tuple[Any, ...], Callable[..., Any]] = {}
        super().__init__(name=f"harness.dpex.{label}")

    def get_call_type(self, context: Any, args: Iterable[Any], kws: Mapping[str, Any]) -> Any:
        """Type one call (numba's protocol).

        Raises:
            numba.core.errors.TypingError: with one line that names the function, the offending type and what
                is allowed.
        """
        if not isinstance(context, SPIRVTypingContext):
            raise errors.TypingError(f"{self._label} can only be called in a numba-dpex kernel or device function")
        try:
            signature, lowering = self._typer(*self._bind(context, args, kws))
        except Misuse as error:
            raise errors.TypingError(f"{self._label}: {error}") from None
        if signature.args not in self._lowerings:
            self._lowerings[signature.args] = lowering
            dpex_kernel_target.target_context.insert_func_defn([(lowering, lowering, signature.args)])
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
        return context.resolve_value_type(parameter.default)


dpex_kernel_target.target_context.data_model_manager.register(DeviceFunctionType, models.OpaqueModel)
