"""The identity of a compilation: a hash of everything that the SPIR-V of a kernel depends on.

A wrong match would run the wrong kernel, so this is conservative: the function's source, bytecode and constants,
the values that its closure and its globals hold, the device functions that it calls, all of these recursively,
the argument types, the options and the versions of the compilers. Where a kernel refers to something whose
identity cannot be told, there is no fingerprint and the kernel is compiled anew.
"""

from __future__ import annotations

import builtins
import dis
import enum
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba_dpex.core import config
from numba_dpex.kernel_api_impl.spirv.dispatcher import SPIRVKernelDispatcher

from harness.dpex.decorators import options_of
from harness.dpex.signature import Signature

_PACKAGES = ("numba", "numba-dpex", "llvmlite", "dpcpp-llvm-spirv", "numpy", "dpnp", "dpctl")
# What these modules publish is known by its name and the versions above.
_TRUSTED = ("builtins", "math", "cmath", "operator", "numpy", "numba", "numba_dpex", "dpnp", "harness.dpex")
# Settings of numba and numba-dpex, which environment variables change.
_SETTINGS = ("DPEX_OPT", "INLINE_THRESHOLD", "DEBUGINFO_DEFAULT", "BOUNDSCHECK", "OPT")
_PLAIN = (bool, int, float, complex, str, bytes)
_CODE_FIELDS = (
    "co_name",
    "co_code",
    "co_exceptiontable",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_kwonlyargcount",
    "co_flags",
)


class _UnknownIdentityError(Exception):
    """A kernel refers to a value of which nobody can tell whether it is the same next time."""


def _trusted(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _TRUSTED)


def _published_name(value: Any) -> str | None:
    """Where a trusted module publishes an object under the object's own name, or None."""
    module = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
    name = value.__name__ if isinstance(value, np.ufunc) else getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not _trusted(module):
        return None
    published: Any = sys.modules.get(module)
    for part in name.split("."):
        published = getattr(published, part, None)
    return f"{module}.{name}" if published is value else None


@lru_cache(maxsize=1)
def toolchain() -> str:
    """Versions of Python and the compilers, and a hash of this package's own source."""
    own = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        own.update(path.read_bytes())
    versions = [f"{name} {metadata.version(name)}" for name in _PACKAGES]
    return "; ".join([f"python {sys.version}", *versions, f"harness.dpex {own.hexdigest()}"])


def fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of compiling ``kernel`` for ``signature``, or None when it cannot be told."""
    identity = _Identity()
    try:
        identity.add(toolchain())
        identity.add([str(getattr(config, name)) for name in _SETTINGS])
        identity.add(repr(signature))
        identity.add(kernel)
    except _UnknownIdentityError:
        return None
    return identity.hexdigest()


def _global_names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_nested(constant)


class _Identity:
    """A hash that values are added to, each with its type and length, so that no two sequences look alike."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._order: dict[tuple[int, frozenset[str]], int] = {}
        self._alive: list[Any] = []

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def _token(self, tag: str, payload: bytes | str = b"") -> None:
        data = payload.encode() if isinstance(payload, str) else payload
        self._hash.update(f"{tag}:{len(data)}:".encode())
        self._hash.update(data)

    def add(self, value: Any, attributes: Iterable[str] = ()) -> None:
        """Add a value; ``attributes`` are the names that the code looks up on modules."""
        published = _published_name(value)
        if published:
            self._token("published", published)
        elif value is None or type(value) in _PLAIN:
            self._token(type(value).__name__, repr(value))
        elif isinstance(value, enum.Enum):
            self._token("enum", f"{type(value).__qualname__}.{value.name}")
            self.add(value.value)
        elif isinstance(value, np.generic | np.ndarray):
            self._add_numpy(np.asarray(value), type(value).__name__)
        elif isinstance(value, tuple | list):
            self._token(type(value).__name__, f"{len(value)} {getattr(value, '_fields', '')}")
            for item in value:
                self.add(item, attributes)
        elif isinstance(value, frozenset):
            self.add(sorted(value, key=repr))
        elif isinstance(value, np.dtype | types.Type):
            self._token("type", str(value))
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            self._token("enumeration", value.__qualname__)
            self.add([(member.name, member.value) for member in value])
        elif isinstance(value, CodeType | Dispatcher | FunctionType | ModuleType):
            self._add_once(value, attributes)
        else:
            raise _UnknownIdentityError

    def _add_numpy(self, array: np.ndarray[Any, Any], kind: str) -> None:
        if array.dtype.hasobject:
            raise _UnknownIdentityError
        self._token(kind, f"{array.dtype.str} {array.shape} {array.flags.c_contiguous} {array.flags.f_contiguous}")
        self._token("data", array.tobytes())

    def _add_once(self, value: Any, attributes: Iterable[str]) -> None:
        looked_up = frozenset(attributes) if isinstance(value, ModuleType) else frozenset()
        earlier = self._order.get((id(value), looked_up))
        if earlier is not None:
            self._token("again", str(earlier))
            return
        self._order[id(value), looked_up] = len(self._order)
        self._alive.append(value)
        if isinstance(value, CodeType):
            self._add_code(value)
        elif isinstance(value, Dispatcher):
            self._add_dispatcher(value)
        elif isinstance(value, FunctionType):
            self._add_function(value)
        else:
            self._add_module(value, looked_up)

    def _add_code(self, code: CodeType) -> None:
        for field in _CODE_FIELDS:
            self.add(getattr(code, field))
        self.add(code.co_consts)

    def _add_dispatcher(self, dispatcher: Any) -> None:
        self._token("dispatcher", type(dispatcher).__name__)
        for name, option in sorted(dispatcher.targetoptions.items()):
            self.add(name)
            self.add(option)
        if isinstance(dispatcher, SPIRVKernelDispatcher):
            self.add(options_of(dispatcher).text())
            self.add(repr(dispatcher._compiler.locals))
        self.add(dispatcher.py_func)

    def _add_function(self, function: FunctionType) -> None:
        self._token("function", function.__name__)
        try:
            self.add(inspect.getsource(function))
        except (OSError, TypeError):
            self._token("no source")
        self.add(function.__code__)
        self.add(function.__defaults__)
        self.add(sorted((function.__kwdefaults__ or {}).items()))
        codes = list(_with_nested(function.__code__))
        attributes = {name for code in codes for name in code.co_names}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._token("captured", name)
            self._add_cell(cell, attributes)
        for name in sorted({name for code in codes for name in _global_names(code)}):
            self._token("global", name)
            if name in function.__globals__:
                self.add(function.__globals__[name], attributes)
            else:
                self.add(getattr(builtins, name, None))

    def _add_cell(self, cell: Any, attributes: Iterable[str]) -> None:
        try:
            self.add(cell.cell_contents, attributes)
        except ValueError:
            self._token("empty cell")

    def _add_module(self, module: ModuleType, attributes: frozenset[str]) -> None:
        self._token("module", module.__name__)
        if _trusted(module.__name__):
            return
        for name in sorted(attributes):
            if hasattr(module, name):
                self._token("attribute", name)
                self.add(getattr(module, name), attributes)
