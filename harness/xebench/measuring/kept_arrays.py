"""Arrays of the host that the function of a variant's samples holds: set back before it is checked, as its memory is.

They are looked for in what the function closes over, and in containers and objects there. Other data show what a
variant keeps elsewhere, unless its preparation read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from xebench.system.sycl_types import Array

#: Packages whose objects hold no arrays of a variant's.
_NOT_ITS_OWN = ("dpctl", "dpnp", "numba", "numpy", "xebench")


class KeptArrays:
    """The arrays that a function holds now, with their contents."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._prepared = {id(array): (array, array.copy()) for array in arrays_in(function)}

    def had(self, result: Array) -> bool:
        """True if one of them held exactly these elements."""
        return any(has_bits(contents, result) for _, contents in self._prepared.values())

    def spoil(self, result: Array) -> None:
        """Overwrite those that held exactly these elements."""
        for array, contents in self._prepared.values():
            if has_bits(contents, result):
                _write(array, _poison(array))

    def set_back(self) -> None:
        """Have them hold what they held, and those that are new a poison."""
        for array in arrays_in(self._function):
            _, contents = self._prepared.get(id(array), (None, None))
            _write(array, _poison(array) if contents is None else contents)


def has_bits(contents: Array, result: Array) -> bool:
    """True if two arrays have the same bits, whatever their shape, and more than one value."""
    same = contents.nbytes == result.nbytes and contents.tobytes() == result.tobytes()
    return same and bool((result != result.flat[0]).any())


def arrays_in(root: Any) -> Iterator[Array]:
    """The arrays of numbers that an object holds, each once."""
    seen: set[int] = set()
    left = [root]
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "biufc":
                yield value
        else:
            left += _inside(value)


def _inside(value: Any) -> list[Any]:
    match value:
        case FunctionType():
            cells = [cell for cell in value.__closure__ or () if _is_set(cell)]
            return [*(cell.cell_contents for cell in cells), value.__defaults__, value.__kwdefaults__, vars(value)]
        case MethodType():
            return [value.__self__, value.__func__]
        case partial():
            return [value.func, value.args, value.keywords]
        case dict():
            return list(value.values())
        case list() | tuple() | set() | frozenset():
            return list(value)
    return _attributes(value)


def _attributes(value: Any) -> list[Any]:
    """Those of an object of the variant's own."""
    module = type(value).__module__  # of some types of C it is no text
    if isinstance(value, type) or not isinstance(module, str) or module.partition(".")[0] in _NOT_ITS_OWN:
        return []
    try:
        return list(vars(value).values())
    except Exception:  # it has none, or a property of that name
        return []


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # of a name that has no value yet
        return False


def _poison(array: Array) -> Any:
    """Not a number; the largest whole number; true."""
    return array.dtype.type(np.nan) if array.dtype.kind in "fc" else np.array(-1).astype(array.dtype)


def _write(array: Array, contents: Any) -> None:
    try:
        could_be_written = array.flags.writeable
        array.setflags(write=True)
        array[...] = contents
        array.setflags(write=could_be_written)
    except ValueError:  # it is one of the problem's, which cannot be written
        return
