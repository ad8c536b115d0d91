"""The identity of a kernel: a hash of its code and of everything that the code refers to, for keys of caches.

These parts count, all of them recursively: a function's code object, which differs between versions of Python, the
values that its defaults, its closure and its globals hold, and the functions that it calls. So do the user's extensions
of numba, whichever a kernel calls. The source text does not count: it may have been edited since the code was made, and
holds several functions where a line has several lambdas. What `numba_sycl`, its ``kernel_api``, numpy and the standard
library publish counts by name. Where a kernel refers to something else, such as an object, it has no identity.

All of these may change while a kernel object lives, so an identity holds for one compilation. docs/compiler.md lists
what the code of a kernel depends on.
"""

from __future__ import annotations

import builtins
import dis
import enum
import hashlib
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from numba_sycl import kernel_api
from numba_sycl.extensions import extensions, is_trusted
from numba_sycl.kernel_options import SourceFunction, options_of
from numba_sycl.signature import Signature

_CODE_FIELDS = (
    *("co_name", "co_code", "co_exceptiontable", "co_names", "co_varnames", "co_freevars", "co_cellvars"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_consts"),
)
# Options of a decorated function that numba-dpex adds by itself.
_ADDED_OPTIONS = ("_compilation_mode", "nopython", "experimental")
#: What code holds of these is told by its text; slices are constants since Python 3.14.
_PLAIN = (type(None), type(...), bool, int, float, complex, str, bytes, slice)
_KERNEL_API = {id(getattr(kernel_api, name)): name for name in kernel_api.__all__}


class UnknownIdentity(Exception):
    """A kernel refers to a value that may differ the next time; the text says which."""


def digest(value: Any) -> str:
    """The identity of a kernel or function as it is now, hexadecimal.

    Raises:
        UnknownIdentity: it has none.
    """
    identity = Identity()
    identity.add(value)
    return identity.hexdigest()


def extensions_digest() -> str:
    """The identity of the user's extensions of numba, in whatever order they were made.

    Raises:
        UnknownIdentity: one has none.
    """
    return hashlib.sha256(" ".join(sorted(set(map(digest, extensions())))).encode()).hexdigest()


def kernel_key(kernel: Any, signature: Signature) -> str:
    """The identity of a kernel compiled for a signature, hexadecimal.

    Raises:
        UnknownIdentity: it has none.
    """
    return hashlib.sha256(f"{digest(kernel)} {extensions_digest()} {signature!r}".encode()).hexdigest()


class Identity:
    """A hash that values are added to, each with its type and length, so that no two sequences look alike."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._order: dict[tuple[int, frozenset[str]], int] = {}
        self._alive: list[Any] = []

    def hexdigest(self) -> str:
        """The hash of all that was added."""
        return self._hash.hexdigest()

    def add(self, value: Any, attributes: Iterable[str] = ()) -> None:
        """Add a value; ``attributes`` are the names that the code looks up on modules.

        Raises:
            UnknownIdentity: the value may differ the next time.
        """
        published = _published_name(value)
        if published:
            self._token("published", published)
        elif type(value) in _PLAIN:
            self._token(type(value).__name__, repr(value))
        elif isinstance(value, enum.Enum):
            self._token("enum", f"{type(value).__qualname__}.{value.name}")
            self.add(value.value)
        elif isinstance(value, np.generic):
            self._token(f"numpy {value.dtype.name}", repr(value.item()))
        elif isinstance(value, np.ndarray):
            self._add_array(value)
        elif isinstance(value, tuple | list):
            self._token(type(value).__name__, f"{len(value)} {getattr(value, '_fields', '')}")
            for item in value:
                self.add(item, attributes)
        elif isinstance(value, frozenset):
            self.add(sorted(value, key=repr))
        elif isinstance(value, np.dtype):
            self._token("type", str(value))
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            self._token("enumeration", value.__qualname__)
            self.add([(member.name, member.value) for member in value])
        elif self.is_compound(value):
            self._add_once(value, attributes)
        else:
            raise UnknownIdentity(f"{value!r:.60}")

    def is_compound(self, value: Any) -> bool:
        """True if a value is one of those that may refer to others, themselves among them."""
        is_python = isinstance(value, FunctionType | CodeType | ModuleType)
        return is_python or hasattr(value, "py_func") or _is_intrinsic(value)

    def add_compound(self, value: Any, looked_up: frozenset[str]) -> None:
        """Add such a value, which was not added before."""
        if isinstance(value, FunctionType):
            self.add_function(value)
        elif isinstance(value, CodeType):
            for name in _CODE_FIELDS:
                self.add(getattr(value, name))
        elif isinstance(value, ModuleType):
            self._add_module(value, looked_up)
        elif _is_intrinsic(value):
            self.add(value._defn)
        else:
            self.add_decorated(value)

    def add_decorated(self, decorated: Any) -> None:
        """Add a kernel or device function."""
        for name in sorted(set(decorated.targetoptions) - set(_ADDED_OPTIONS)):
            self._token("option", name)
            self.add(decorated.targetoptions[name])
        self.add(options_of(decorated).text())
        if isinstance(decorated, SourceFunction) and decorated.overloads:  # a device function converts to them
            self._token("overloads", str(decorated.overloads))
        self.add(decorated.py_func)

    def add_function(self, function: FunctionType) -> None:
        """Add a Python function: its code, and what that refers to."""
        self._token("function", function.__name__)
        self.add_code(function)
        self.add(function.__defaults__)
        self.add(sorted((function.__kwdefaults__ or {}).items()))
        codes = list(_with_nested(function.__code__))
        attributes = {name for code in codes for name in code.co_names}
        for name, cell in sorted(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)):
            self._token("captured", name)
            self._add_cell(cell, attributes)
        for name in sorted({name for code in codes for name in _global_names(code)}):
            self._token("global", name)
            if name in function.__globals__:
                self.add(function.__globals__[name], attributes)
            else:
                self.add(getattr(builtins, name, None))

    def add_code(self, function: FunctionType) -> None:
        """Add what a function does."""
        self.add(function.__code__)

    def _token(self, tag: str, payload: bytes | str = b"") -> None:
        data = payload.encode() if isinstance(payload, str) else payload
        self._hash.update(f"{tag}:{len(data)}:".encode())
        self._hash.update(data)

    def _add_array(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.hasobject:
            raise UnknownIdentity("an array of objects")
        flags = array.flags
        self._token("array", f"{array.dtype.str} {array.shape} {flags.c_contiguous} {flags.f_contiguous}")
        self._token("data", array.tobytes())

    def _add_once(self, value: Any, attributes: Iterable[str]) -> None:
        looked_up = frozenset(attributes) if isinstance(value, ModuleType) else frozenset()
        earlier = self._order.get((id(value), looked_up))
        if earlier is not None:
            self._token("again", str(earlier))
            return
        self._order[id(value), looked_up] = len(self._order)
        self._alive.append(value)
        self.add_compound(value, looked_up)

    def _add_cell(self, cell: Any, attributes: Iterable[str]) -> None:
        try:
            self.add(cell.cell_contents, attributes)
        except ValueError:
            self._token("empty cell")

    def _add_module(self, module: ModuleType, attributes: frozenset[str]) -> None:
        if "getattr" in attributes and not is_trusted(module.__name__):
            raise UnknownIdentity(f"an attribute of {module.__name__} by getattr")
        name = "kernel_api" if module.__name__.endswith("dpex.kernel_api") else module.__name__
        if is_trusted(module.__name__):
            self._token("module", name)
            return
        # where its folder lies is no part of it, as it is of a user's package
        self._token("module", name.rpartition(".")[2])
        for attribute in sorted(attributes):
            if hasattr(module, attribute):
                self._token("attribute", attribute)
                self.add(getattr(module, attribute), attributes)


def _is_intrinsic(value: Any) -> bool:
    """True for a function that numba's ``intrinsic`` decorates."""
    return isinstance(getattr(value, "_defn", None), FunctionType)


def _published_name(value: Any) -> str | None:
    """The full name under which a trusted module publishes an object by the object's own name, or None."""
    if id(value) in _KERNEL_API:
        return f"kernel_api.{_KERNEL_API[id(value)]}"
    module = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
    name = value.__name__ if isinstance(value, np.ufunc) else getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not is_trusted(module):
        return None
    published: Any = sys.modules.get(module)
    for part in name.split("."):
        published = getattr(published, part, None)
    return f"{module}.{name}" if published is value else None


def _global_names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_nested(constant)
