"""Lines of a program written for numba-dpex that will not run with this package, by the names in its text."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, Final

import dpctl

from numba_sycl.errors import NotOffered
from numba_sycl.numba_dpex_names import NOT_OFFERED, as_numba_dpex
from numba_sycl.numba_names import OLDER, VECTORIZE
from numba_sycl.stacks import is_current

_ROOTS: Final = ("numba_dpex", "numba_dppy")
_IMPORT: Final = "write import numba_sycl as numba_dpex, or call numba_sycl.as_numba_dpex() before"
_OLDER_API: Final = 'or call numba_sycl.as_numba_dpex(api="0.20") before'


def find_lines(program: str) -> list[tuple[int, str]]:
    """The numbers of such lines, and what to write, in order.

    Args:
        program: text of the program.

    Raises:
        SyntaxError: the text is no program.
        NotOffered: numba-dpex itself is installed here, with which the program runs.
    """
    if not is_current():
        raise NotOffered("numba-dpex is installed in this environment, so it runs with that: check it in another one")
    as_numba_dpex()
    return sorted(set(_Program(ast.parse(program)).lines()))


class _Program:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _last(node.func) == "as_numba_dpex"]
        self._is_offered = bool(calls)
        self._is_older = any(_text(argument) == "0.20" for call in calls for argument in _arguments(call))
        #: Full names of what the program's own names mean.
        self._names: dict[str, str] = {}
        self._kernels: set[str] = set()

    def lines(self) -> Iterator[tuple[int, str]]:
        nodes = list(ast.walk(self._tree))
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from ((node.lineno, advice) for advice in self._of_import(node))
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                yield from self._of_function(node)
        for node in nodes:
            if isinstance(node, ast.Attribute) and id(node) not in inner:
                yield from ((node.lineno, advice) for advice in self._of_name(self._full_name(node)))
            elif isinstance(node, ast.Call):
                yield from ((node.lineno, advice) for advice in self._of_call(node))

    def _of_import(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        module = getattr(node, "module", None)
        names = [f"{module}.{alias.name}" if module else alias.name for alias in node.names]
        for name, alias in zip(names, node.names, strict=True):
            bound = alias.asname or alias.name
            self._names[bound.partition(".")[0]] = name if alias.asname or module else name.partition(".")[0]
            yield from self._of_name(name)
        if any(name.partition(".")[0] in _ROOTS for name in names) and not self._is_offered:
            yield _IMPORT

    def _full_name(self, node: ast.expr) -> str:
        """The full name of an attribute; nothing of what is no name."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, "")
        of = self._full_name(node.value) if isinstance(node, ast.Attribute) else ""
        return f"{of}.{node.attr}" if of and isinstance(node, ast.Attribute) else ""

    def _of_name(self, name: str) -> Iterator[str]:
        root, *parts = name.split(".")
        if (
            name.startswith("dpctl.tensor")
            and not self._is_offered
            and PathFinder.find_spec("dpctl.tensor", dpctl.__path__) is None
        ):
            yield "dpctl has no tensor since 0.22: write dpnp, or call numba_sycl.as_numba_dpex() before"
        if name == "dpctl.device_context" and not self._is_older:
            yield f"dpctl has no device_context: make arrays with sycl_queue=..., {_OLDER_API}"
        if root in _ROOTS and parts and not (self._is_older and parts[0] in OLDER):
            yield from _missing(parts)

    def _of_function(self, function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
        for decorator in function.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            name = self._full_name(call.func if call else decorator)
            if name.partition(".")[0] in _ROOTS and name.endswith(".kernel"):
                self._kernels.add(function.name)
            if name.partition(".")[0] in _ROOTS and call and any(_text(one) is not None for one in call.args):
                yield decorator.lineno, "signatures as text are not supported: give tuples of types"

    def _of_call(self, call: ast.Call) -> Iterator[str]:
        targets = [_text(word.value) for word in call.keywords if word.arg == "target"]
        if _last(call.func) == "vectorize" and targets and targets[0] in ("dpex", "dppy"):
            yield f"vectorize for {targets[0]} {VECTORIZE}"
        launched = call.func.value if isinstance(call.func, ast.Subscript) else None
        if isinstance(launched, ast.Name) and launched.id in self._kernels and not self._is_older:
            yield f"write call_kernel({launched.id}, Range(n), ...) or with an NdRange, {_OLDER_API}"


def _missing(parts: list[str]) -> Iterator[str]:
    """The advice for a name of numba-dpex, if it is not offered."""
    if parts[0] in NOT_OFFERED:
        yield f"numba_dpex.{parts[0]} {NOT_OFFERED[parts[0]]}"
        return
    value: Any = sys.modules["numba_dpex"]
    for part in parts:
        if not isinstance(value, ModuleType):
            return
        try:
            value = getattr(value, part)
        except AttributeError as error:
            yield str(error)
            return


def _last(function: ast.expr) -> str:
    """The last part of a name."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
