"""Read a pattern file without the stack it needs.

``xebench list`` must not load the SYCL runtime, and pattern files import numba_dpex at their top. While a file is
read for its declarations, the heavy packages are stand-ins: every attribute and every call of a stand-in is another
stand-in, so decorators and constants at module level pass, and nothing of them is kept.
"""

from __future__ import annotations

import importlib.machinery
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

HEAVY = (
    "numpy",
    "numba",
    "numba_dpex",
    "dpctl",
    "dpnp",
    "scipy",
    "pandas",
    "harness.dpex",
    "harness.runtime",
)
_lock = threading.Lock()


class StandIn(ModuleType):
    """A module, function, class or number that stands for something of a heavy package."""

    __path__: Any = []

    def __init__(self, name: str = "stand-in") -> None:
        super().__init__(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return StandIn(f"{self.__name__}()")

    def __getitem__(self, key: Any) -> Any:
        return StandIn(f"{self.__name__}[]")

    def _combine(self, *others: Any) -> Any:
        return StandIn(self.__name__)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _combine
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _combine
    __pow__ = __rpow__ = __lshift__ = __rshift__ = __and__ = __or__ = __xor__ = _combine
    __neg__ = __pos__ = __invert__ = _combine


class _Finder:
    """A finder and loader by duck typing: importlib.abc costs 7 ms to import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if _is_heavy(name):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


_WHOLE = frozenset(name for name in HEAVY if "." not in name)
_ROOMS = frozenset(name for name in HEAVY if "." in name)


def _is_heavy(name: str) -> bool:
    """Asked of every loaded module for every file, so it is kept cheap."""
    root, dot, rest = name.partition(".")
    return root in _WHOLE or (root == "harness" and dot == "." and f"harness.{rest.partition('.')[0]}" in _ROOMS)


@contextmanager
def stand_ins() -> Iterator[None]:
    """Within the block, imports of heavy packages give stand-ins; afterwards everything is as before."""
    with _lock:
        finder = _Finder()
        real = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_heavy(name)}
        attributes = _detach_submodules()
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)
            for name in [name for name in sys.modules if _is_heavy(name)]:
                del sys.modules[name]
            _detach_submodules()
            sys.modules.update(real)
            harness = sys.modules.get("harness")
            for name, module in attributes.items():
                setattr(harness, name, module)


def _detach_submodules() -> dict[str, ModuleType]:
    """Take ``harness.dpex`` and ``harness.runtime`` off their parent, which ``from harness import dpex`` asks first."""
    harness = sys.modules.get("harness")
    found = {}
    for heavy in HEAVY:
        parent, _, child = heavy.rpartition(".")
        if parent == "harness" and harness is not None and child in vars(harness):
            found[child] = vars(harness).pop(child)
    return found
