"""A kernel's source in plain Python: work-items one after another, those of a group in step at barriers."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from random_kernels import HEAD, clamped

_NAMES = {"atan2": "arctan2", "pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_NAMES |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "fetch_add": lambda x, y: x + y,
    "fetch_sub": lambda x, y: x - y,
    "fetch_min": min,
    "fetch_max": max,
    "fetch_and": lambda x, y: x & y,
    "fetch_or": lambda x, y: x | y,
    "fetch_xor": lambda x, y: x ^ y,
}


class _Precise:
    """``math`` with more bits than the result has, so that what is rounded in the end is right."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, _NAMES.get(name, name))
        return lambda *numbers: function(*(np.longdouble(number) for number in numbers))


class _Squares(ast.NodeTransformer):
    """``x ** 2`` as a product, which numpy's power of a scalar is not: it is wrong where two numbers are as near."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        square = ast.Attribute(ast.Name("np", ast.Load()), "square", ast.Load())
        is_square = isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "2"
        return ast.Call(square, [node.left], []) if is_square else node


class _AtomicRef:
    def __init__(self, array: NDArray[Any], index: Any) -> None:
        self._array, self._index = array, index

    def __getattr__(self, name: str) -> Any:
        def update(value: Any) -> None:
            kind = self._array.dtype.type
            self._array[self._index] = kind(_OPERATIONS[name](self._array[self._index], value))

        return update


class _Item:
    def __init__(self, index: int, group: int) -> None:
        self._index, self._group = index, group

    def get_global_id(self, _: int) -> Any:
        return np.int64(self._index)

    def get_local_id(self, _: int) -> Any:
        return np.int64(self._index % self._group)

    def get_group(self) -> None:
        return None


def run_plainly(source: str, items: int, group: int, arguments: list[Any], tiles: list[str]) -> None:
    """Run the kernel ``run`` of a module's source.

    Args:
        source: of the module; ``kapi.group_barrier(group)`` stands where all items of a group pass.
        items, group: extents of the index space and of a group.
        arguments: arrays, which are changed, and numbers.
        tiles: dtypes of the arrays in local memory, which follow.
    """
    namespace: dict[str, Any] = {
        "np": np,
        "range": lambda *ends: map(np.int64, range(*ends)),  # numba has no integers without a width
        "math": _Precise(),
        "clamped": clamped.py_func,
        "kernel": lambda **_: lambda function: function,
        "device_func": lambda function: function,
        "kapi": SimpleNamespace(
            NdItem=None,
            AtomicRef=_AtomicRef,
            PrivateArray=lambda shape, dtype, fill_zeros: np.zeros(shape, dtype),
        ),
    }
    plain = ast.parse(source.partition(HEAD)[2].replace("kapi.group_barrier(group)", "yield"))
    exec(compile(ast.fix_missing_locations(_Squares().visit(plain)), "plain", "exec"), namespace)
    with np.errstate(all="ignore"):
        for first in range(0, items, group):
            local = [np.zeros(group, dtype) for dtype in tiles]
            started = [namespace["run"](_Item(first + lane, group), *arguments, *local) for lane in range(group)]
            running = [one for one in started if one is not None]
            while running:
                running = [one for one in running if next(one, math) is not math]
