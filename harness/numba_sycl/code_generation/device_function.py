"""A function that kernels call: Python runs its simulation, and numba generates its code when a kernel needs it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import numpy as np

from numba_sycl.errors import ArgumentError, NotSimulated

_ALLOCATION_ALIGNMENT = 64
#: Bytes of whose multiples launches make LocalAccessors; no GPU accesses local memory by wider parts.
LOCAL_ALIGNMENT = 16


def alignment(itemsize: int, width: int, *, local: bool = False) -> int:
    """The multiple, in bytes, that an aligned access of *width* elements of *itemsize* bytes promises."""
    return min(itemsize * width, LOCAL_ALIGNMENT if local else _ALLOCATION_ALIGNMENT)


class Later:
    """The result of a look-up or a call that happens later."""

    def __init__(self, resolve: Callable[[], Any]) -> None:
        self._resolve = resolve

    def __getattr__(self, name: str) -> Later:
        if name.startswith("__"):  # Python's own, such as the code of a function: it has none
            raise AttributeError(name)
        return Later(lambda: getattr(self._resolve(), name))

    def __call__(self, *arguments: Any, **options: Any) -> Later:
        def resolve() -> Any:
            given = {name: resolved(value) for name, value in options.items()}
            return self._resolve()(*map(resolved, arguments), **given)

        return Later(resolve)


def resolved(value: Any) -> Any:
    """The value of a `Later`; any other value as it is."""
    return value._resolve() if isinstance(value, Later) else value


def module(name: str) -> Later:
    """A module by its full name."""
    return Later(lambda: import_module(name))


# A program that launches kernels which were compiled before never imports numba, which takes half a second.
checks: Any = module("numba_sycl.code_generation.checks")
generators: Any = module("numba_sycl.code_generation.generators")
Scope: Any = module("numba_sycl.code_generation.spirv").Scope

P = ParamSpec("P")

R = TypeVar("R")

#: Types a call: from the numba types of all parameters to numba's signature and the code generator, which takes
#: ``(context, builder, signature, arguments)`` like any numba lowering.
Typer = Callable[..., tuple[Any, Callable[..., Any]]]


def device_function(typer: Typer) -> Callable[[Callable[P, R]], DeviceFunction[P, R]]:
    """Make a function callable in kernels; its body is what plain Python (simulation) runs.

    Args:
        typer: returns the signature and the code of a call in a kernel.
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
            typer: typer of its calls in a kernel.
            name: the function's name.
            words: replacements for names in braces in the template's docstring.
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
        # numba looks for this attribute when it types a global of a type that it lacks
        from numba_sycl.code_generation.checks import DeviceFunctionType

        return DeviceFunctionType(self.label, inspect.signature(self._function), resolved(self._typer))


class GroupFunction(DeviceFunction[P, R]):
    """A function of several work-items at once: it has a device's code only, and its Python body never runs."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        raise NotSimulated(self.label)


def group_function(typer: Typer) -> Callable[[Callable[P, R]], GroupFunction[P, R]]:
    """Like ``device_function``, for a function that needs the other work-items of its group."""
    return lambda function: GroupFunction(function, typer)


def load(array: Any, index: Any, width: int, multiple: int = 1) -> tuple[Any, ...]:
    """The *width* elements from *index* on, along the last dimension; *index* must be a multiple of *multiple*."""
    return tuple(array[position] for position in _neighbours(index, width, multiple))


def store(array: Any, index: Any, values: Sequence[Any], width: int, multiple: int = 1) -> None:
    """Store *width* values, given as so many arguments or as one tuple, along the last dimension."""
    if len(values) == 1 and isinstance(values[0], tuple):
        values = values[0]
    if len(values) != width:
        raise ArgumentError(f"{len(values)} value(s) given, but {width} are stored")
    for position, value in zip(_neighbours(index, width, multiple), values, strict=True):
        array[position] = value


def exchange(array: Any, index: Any, value: Any, operation: Callable[[Any, Any], Any]) -> Any:
    """Replace an element by *operation* of itself and *value*, wrapping around like the device; returns the old.

    Args:
        array: a numpy array, or what a LocalAccessor is in simulation.
        index: an integer or a tuple.
        value: converted to the array's dtype first.
        operation: takes the old element and the value.
    """
    old = array[index]
    with np.errstate(over="ignore"):
        array[index] = operation(old, np.asarray(value).astype(old.dtype)[()])
    return old


def _neighbours(index: Any, width: int, multiple: int) -> list[Any]:
    """Indices of *width* elements in a row; checked, since numpy would wrap a negative one around."""
    outer, last = (index[:-1], index[-1]) if isinstance(index, tuple) else ((), index)
    if last < 0:
        raise ArgumentError(f"index is {last}, but must not be negative")
    if last % multiple:
        raise ArgumentError(f"index is {last}, but must be a multiple of {multiple}, or use the unaligned form")
    return [(*outer, last + step) if outer else last + step for step in range(width)]
