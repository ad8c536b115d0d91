"""A function that kernels call: Python runs its simulation, numba gets its type when a kernel is compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class DeviceFunction(Generic[P, R]):
    """A Python function that is also known to the kernel compiler.

    Attributes:
        label: the name in messages, such as ``sub_group.reduce_add``.
    """

    __name__: str

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self.label = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> DeviceFunction[P, R]:
        # With this, inspect and help() treat the object as the routine that it is.
        return self

    def __repr__(self) -> str:
        return f"<device function {self.label}>"

    @property
    def _numba_type_(self) -> Any:
        # numba asks for this attribute when it types a global that it does not know.
        from harness.dpex._intrinsics.function_type import type_of

        return type_of(self)


def device_function(function: Callable[P, R]) -> DeviceFunction[P, R]:
    """Make *function* callable in kernels; its body is what plain Python (simulation) runs."""
    return DeviceFunction(function)
