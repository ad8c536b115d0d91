"""A function that kernels call: Python runs its simulation, numba types a call of it and generates its code."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

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
    def _numba_type_(self) -> Any:
        # numba asks for this attribute when it types a global that it does not know
        from xebench.dpex._intrinsics.device_function_type import DeviceFunctionType
        from xebench.dpex._intrinsics.later import resolved

        return DeviceFunctionType(self.label, inspect.signature(self._function), resolved(self._typer))
