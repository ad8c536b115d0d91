"""Is what measures and judges still the code that it was before a pattern file was executed?

A file may give ``numpy.array_equal``, ``time.perf_counter_ns`` or a function of this package another meaning. What a
process says after that is worth nothing, right or wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from xebench.measuring.comparison import difference

#: Packages and modules whose functions decide what is measured and what is right.
_DECISIVE: Final = {"xebench", "numpy", "dpctl", "builtins", "math", "random", "statistics", "time"}

#: What a class has for methods.
_METHODS: Final = (FunctionType, classmethod, staticmethod, property)


class OwnCode:
    """The functions, classes and methods of decisive modules, as they are when this is made."""

    def __init__(self) -> None:
        modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] in _DECISIVE]
        self._kept = [
            (owner, name, value, getattr(value, "__code__", None))
            for module in modules
            for owner in (module, *_classes(module))
            for name, value in vars(owner).items()
            if isinstance(value, _METHODS) or (owner is module and callable(value))
        ]

    def changed(self) -> list[str]:
        """Names of what is another function or class by now, or does not compare as it should."""
        replaced = (
            _title(owner, name)
            for owner, name, value, code in self._kept
            if vars(owner).get(name) is not value or getattr(value, "__code__", None) is not code
        )
        return list(dict.fromkeys([*replaced, *([] if _compares() else ["how numpy's arrays compare"])]))


def _classes(module: ModuleType) -> Iterator[type]:
    """The classes of this package that a module declares."""
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == module.__name__ and module.__name__.startswith("xebench"):
            yield value


def _title(owner: Any, name: str) -> str:
    module = owner.__name__ if isinstance(owner, ModuleType) else f"{owner.__module__}.{owner.__qualname__}"
    return f"{module}.{name}"


def _compares() -> bool:
    """True if our comparison still tells equal arrays from others: operators can be replaced without a trace."""
    zeros, ones = np.zeros(2), np.ones(2)
    return all(
        bool(difference("", actual, ones, rtol, rtol)) == (actual is zeros)
        for actual in (zeros, ones)
        for rtol in (0.0, 1e-3)
    )
