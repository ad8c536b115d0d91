"""The user's extensions of numba, such as ``overload``s and ``intrinsic``s, which any kernel may come to use."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from numba_sycl import additions

_TRUSTED = (
    *(
        "builtins",
        "math",
        "cmath",
        "operator",
        "typing",
        "numpy",
        "numba",
        "llvmlite",
        "numba_dpex",
        "dpnp",
        "numba_sycl",
    ),
)


def is_trusted(module: str) -> bool:
    """True for modules whose content their version tells."""
    return any(module == name or module.startswith(f"{name}.") for name in _TRUSTED)


def extensions() -> set[FunctionType]:
    """The functions that make up all extensions of this process."""
    return {function for holder in _holders() for function in _functions(holder)}


def forget_compiled(typing_context: Any) -> None:
    """Have extensions compiled anew, since what they refer to may have changed.

    Args:
        typing_context: context of the target; those of others keep what they have.
    """
    for template in _templates():
        if _functions(template):
            cache = getattr(template, "_impl_cache", {})
            for key in [key for key in cache if key[0] is typing_context]:
                del cache[key]


def _templates() -> Iterator[Any]:
    if templates := sys.modules.get("numba.core.typing.templates"):
        yield from templates.builtin_registry.functions
        yield from templates.builtin_registry.attributes


def _holders() -> Iterator[Any]:
    """The classes and functions in numba's registries."""
    yield from _templates()
    if imputils := sys.modules.get("numba.core.imputils"):
        registry = imputils.builtin_registry
        for name in ("functions", "getattrs", "setattrs", "casts", "constants"):
            # an intrinsic that was typed is there as an implementation of itself
            yield from (entry[0] for entry in getattr(registry, name) if entry[0] is not entry[1])
    if datamodel := sys.modules.get("numba.core.datamodel"):
        yield from datamodel.default_manager._handlers.values()


@functools.cache
def _functions(holder: Any) -> tuple[FunctionType, ...]:
    """The functions of a class or function that are the user's: numba puts functions of its own around them."""
    members = [of for name, of in vars(holder).items() if name != "key"] if isinstance(holder, type) else [holder]
    functions = [getattr(member, "__func__", member) for member in members]
    captured = [cell for function in functions for cell in getattr(function, "__closure__", None) or ()]
    functions += [cell.cell_contents for cell in captured if _is_full(cell)]
    return tuple(one for one in functions if isinstance(one, FunctionType) and _is_users(one))


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _is_users(function: FunctionType) -> bool:
    module = function.__globals__.get("__name__", "")
    return not is_trusted(module) and not module.startswith(f"{additions.adapter_module}.")
