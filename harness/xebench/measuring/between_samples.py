"""The memory that a variant keeps between samples: it is set back before a check.

`KeptArrays` finds the host's arrays in what the function closes over, and in containers and objects there, and results
that stand there as bytes or as Python's numbers; `KeptMemory` has the device's. What the variant's preparation wrote is
put back, and the rest is spoilt. A variant that copies results of an earlier sample, or finds there that it has
computed them, has nothing to copy or find.

Results themselves are looked for also in what the function reaches by names of its module, after a checked call: spoilt
there, they must come again. Nothing else is written there, as other variants may use it.
"""

from __future__ import annotations

import mmap
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from operator import setitem
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import dpctl.memory
import numpy as np

from xebench.measuring.comparison import same_bits
from xebench.measuring.session.device_memory import is_spoilt, memory_of, spoil
from xebench.patterns.pattern_file import PACKAGES
from xebench.system.sycl_types import Array

#: Packages whose objects hold no arrays of a variant's, but for kernels, which are made of its functions.
_NOT_ITS_OWN: Final = ("dpctl", "dpnp", "llvmlite", "numba", "numba_dpex", "numpy", "xebench")
#: So many times as large as a result may be what holds it among other things, and so many places of its first element
#: are looked at.
_LARGER: Final = 3
_PLACES: Final = 64
#: Results of no more elements are not looked for in what the function reaches.
_FEW: Final = 3
#: Objects beyond so many are not looked into: each check would wait for seconds.
_MOST: Final = 50_000
#: The host keeps a copy of what is looked at.
_MOST_UPLOADED_BYTES: Final = 1 << 30


class KeptArrays:
    """The arrays that a function holds now, with their contents."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._prepared = {id(array): (array, array.copy()) for array in arrays_in(function)}

    def spoil(self, result: Array) -> list[Callable[[], object]]:
        """Overwrite these elements wherever the function reaches them, be it in bytes or a list.

        Returns:
            What puts each of them back: a module's table may hold the same by chance. Up to three numbers are let be.
        """
        undo: list[Callable[[], object]] = []
        for value, replace in list(reached(self._function, by_name=True)) if result.size > _FEW else ():
            if _is_numbers(value):
                for part in _parts(value, result):
                    undo.append(partial(_write_array, value, value.reshape(-1)[part].copy(), part))
                    _write_array(value, _poison(value), part)
            elif replace is not None and (spoilt := _spoilt(value, result)) is not None:
                undo.append(partial(replace, value))
                replace(spoilt)
        return undo[::-1]

    def set_back(self) -> None:
        """Restore the contents of the arrays, and overwrite new arrays with a poison."""
        for array in arrays_in(self._function):
            _, contents = self._prepared.get(id(array), (None, None))
            _write_array(array, _poison(array) if contents is None else contents)


def has_bits(contents: Array, result: Array) -> bool:
    """True if two arrays have the same bits, whatever their shape, and more than one value."""
    return same_bits(contents, result) and bool((result != result.flat[0]).any())


def _parts(array: Array, result: Array) -> Iterator[slice]:
    """The parts of an array, in one dimension, that hold a result, also in a wider or narrower type."""
    size = result.size
    if (
        not array.flags.c_contiguous
        or array.dtype.kind != result.dtype.kind
        or not size <= array.size <= _LARGER * size
    ):
        return
    with np.errstate(all="ignore"):
        elements = array.reshape(-1).astype(result.dtype, copy=False)
    for begin in np.flatnonzero(elements[: array.size - size + 1] == result.flat[0])[:_PLACES]:
        if has_bits(elements[begin : begin + size], result):
            yield slice(begin, begin + size)


def arrays_in(root: Any) -> Iterator[Array]:
    """The arrays of numbers that an object holds, each once."""
    found = {id(value): value for value, _ in reached(root) if _is_numbers(value)}
    return iter(found.values())


def _is_numbers(value: Any) -> bool:
    # those of which elements are repeated, as by `numpy.broadcast_to`, may have no room in a copy
    return isinstance(value, np.ndarray) and value.dtype.kind in "biufc" and (0 not in value.strides or value.size < 2)


#: Has what holds a value hold another one; None where that cannot be.
_Replace = Callable[[Any], object] | None


def reached(root: Any, *, by_name: bool = False) -> Iterator[tuple[Any, _Replace]]:
    """The values that an object holds, but for numbers and texts, each with a function that puts another in its place.

    Args:
        root: the object.
        by_name: whether also what a function or a class of a pattern file reaches by names of its module.
    """
    seen: set[int] = set()
    left: list[tuple[Any, _Replace]] = [(root, None)]
    while left:
        value, replace = left.pop()
        if isinstance(value, int | float | complex | str):
            continue
        yield value, replace
        if id(value) not in seen and len(seen) < _MOST and not isinstance(value, np.ndarray):
            left += _inside(value, replace)
            if by_name:
                left += _named(value)
        seen.add(id(value))


def _spoilt(value: Any, result: Array) -> Any:
    """A copy of bytes or numbers with a poison in place of a result; None: they do not hold it."""
    if isinstance(value, bytes | bytearray):
        if not _is_near(len(value), result):
            return None
        contents = np.frombuffer(value, np.uint8).copy()
        return type(value)(contents.tobytes()) if _spoil_bytes(contents, result) else None
    if not isinstance(value, list | tuple | deque | dict) or not 0 < len(value) <= _LARGER * result.size:
        return None
    items = _items(value)
    if not _spoil_array(items, result):
        return None
    if isinstance(value, tuple):
        return getattr(type(value), "_make", tuple)(items.tolist())
    spoilt = copy(value)
    for key, item in zip(value if isinstance(value, dict) else range(len(value)), items.tolist(), strict=True):
        spoilt[key] = item
    return spoilt


def _items(value: Any) -> Array:
    """The contents of a container as an array; empty if they are not numbers, or rows of numbers."""
    items = list(value.values() if isinstance(value, dict) else value)
    if isinstance(items[0], int | float | complex | np.generic | list | tuple):
        with suppress(Exception):  # its rows differ in length, or whatever objects it holds refuse to be numbers
            return np.array(items)
    return np.array([])


def _named(value: Any) -> list[tuple[Any, _Replace]]:
    """The objects that a pattern file's function, class or object refers to by name, beside those that it holds."""
    if not isinstance(value, type | FunctionType):
        value = type(value)
    if not str(value.__module__).startswith(PACKAGES):
        return []
    if isinstance(value, type):
        return [(item, partial(setattr, value, name)) for name, item in vars(value).items()]
    names, there = _names_of(value.__code__), value.__globals__
    return [(there[name], partial(setitem, there, name)) for name in names if name in there]


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_of(inner)


def _inside(value: Any, replace: _Replace) -> list[tuple[Any, _Replace]]:
    held: list[tuple[Any, _Replace]] = []
    match value:
        case FunctionType():
            cells = [cell for cell in value.__closure__ or () if _is_set(cell)]
            held += [(cell.cell_contents, partial(setattr, cell, "cell_contents")) for cell in cells]
            held += [(value.__defaults__, partial(setattr, value, "__defaults__"))]
            held += [(each, None) for each in (value.__kwdefaults__, vars(value))]
        case MethodType():
            held += [(each, None) for each in (value.__self__, value.__func__)]
        case partial():
            held += [(each, None) for each in (value.func, value.args, value.keywords)]
        case dict():
            held += [(item, partial(setitem, value, key)) for key, item in value.items()]
        case list() | deque():
            held += [(item, partial(setitem, value, i)) for i, item in enumerate(value)]
        case tuple():
            held += [(item, replace and partial(_replace_in, value, i, replace)) for i, item in enumerate(value)]
        case set() | frozenset():
            held += [(item, None) for item in value]
        case _:
            attributes = _attributes(value)
            held += [(item, partial(setitem, attributes, name)) for name, item in attributes.items()]
    return held


def _replace_in(items: tuple[Any, ...], i: int, replace: Callable[[Any], object], other: Any) -> None:
    make = getattr(type(items), "_make", tuple)  # a named tuple's
    replace(make((*items[:i], other, *items[i + 1 :])))


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object of the variant's own; none for a class or a module, whose contents functions name."""
    if isinstance(value, type | ModuleType):
        return {}
    try:
        attributes = vars(value)
    except Exception:  # it has none, or a property of that name
        return {}
    module = type(value).__module__  # of some types of C it is no text
    is_own = isinstance(module, str) and module.partition(".")[0] not in _NOT_ITS_OWN
    return attributes if is_own or "py_func" in attributes else {}


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # of a name that has no value yet
        return False


def _poison(array: Array) -> Any:
    """Not a number; the largest whole number; true."""
    return array.dtype.type(np.nan) if array.dtype.kind in "fc" else np.array(-1).astype(array.dtype)


def _spoil_array(array: Array, result: Array) -> bool:
    """Overwrite a result in an array; True if the array held it."""
    parts = list(_parts(array, result))
    for part in parts:
        _write_array(array, _poison(array), part)
    return bool(parts)


def _write_array(array: Array, contents: Any, part: slice | None = None) -> None:
    try:
        could_be_written = array.flags.writeable
        array.setflags(write=True)
        target = array if part is None else array.reshape(-1)[part]
        target[...] = contents
        array.setflags(write=could_be_written)
    except ValueError:  # it is one of the problem's, which cannot be written
        return


class Uploads:
    """The bytes that the host copies to a device in a call.

    Args:
        outputs: of all copies no more is kept than three times the largest of these, nor than 1 GiB.
    """

    def __init__(self, outputs: Iterable[Any]) -> None:
        self._left_bytes = min(_LARGER * max((array.nbytes for array in outputs), default=0), _MOST_UPLOADED_BYTES)
        self._contents: list[Array] = []

    def note(self, destination: Any, source: Any) -> None:
        """Take note of a copy that is submitted."""
        if not isinstance(source, _ON_HOST) or isinstance(destination, _ON_HOST):
            return
        contents = source if isinstance(source, np.ndarray) else np.frombuffer(source, np.uint8)
        if contents.nbytes <= self._left_bytes:
            self._left_bytes -= contents.nbytes
            self._contents.append(np.frombuffer(contents.tobytes(), np.uint8))

    def of(self, results: Mapping[str, Array]) -> Mapping[str, Array]:
        """The results that were uploaded, whole or in parts one after another."""
        wholes = [*self._contents, np.concatenate(self._contents)] if self._contents else []
        return {
            name: result
            for name, result in results.items()
            if any(next(_parts(view, result), None) for whole in wholes for view in _views(whole, result))
        }

    def __bool__(self) -> bool:
        return bool(self._contents)


_ON_HOST: Final = (np.ndarray, bytes, bytearray, memoryview)


class KeptMemory:
    """The memory of one preparation of a variant."""

    def __init__(self) -> None:
        self._prepared: list[tuple[weakref.ref[Any], Any]] = []
        self._others: list[weakref.ref[Any]] = []

    def prepared(self, allocations: Sequence[weakref.ref[Any]], *, written: bool) -> None:
        """Take note of what a preparation allocated, when it is over.

        Args:
            allocations: of the session.
            written: whether the preparation submitted commands or read data; else device memory holds its poison,
                unless it was written by methods of dpctl's memory.
        """
        for allocation, memory in _in_use(allocations):
            if written or memory.get_usm_type() != "device" or not is_spoilt(memory):
                self._prepared.append((allocation, _copy(memory)))
            else:
                self._others.append(allocation)

    def add(self, allocations: Sequence[weakref.ref[Any]]) -> None:
        """Take note of what was allocated later, and is in use still."""
        self._others = [allocation for allocation in (*self._others, *allocations) if allocation() is not None]

    @property
    def migrates(self) -> bool:
        """True if more than a page is shared memory: after the host wrote it, a device takes longer to read it."""
        return any(m.get_usm_type() == "shared" and m.nbytes > mmap.PAGESIZE for _, m in _in_use(self._all()))

    def set_back(self) -> None:
        """Restore memory to its contents after the preparation, or poison what the preparation did not write."""
        for allocation, contents in self._prepared:
            for _, memory in _in_use([allocation]):
                _write_memory(memory, contents)
        for _, memory in _in_use(self._others):
            spoil(memory)

    def spoil(self, result: Array) -> bool:
        """Overwrite these elements wherever the variant's memory holds them; True if it does."""
        found = False
        for _, memory in _in_use(self._all()):
            if _is_near(memory.nbytes, result) and _spoil_bytes(contents := memory.copy_to_host(), result):
                memory.copy_from_host(contents)
                found = True
        return found

    def _all(self) -> list[weakref.ref[Any]]:
        return [*(allocation for allocation, _ in self._prepared), *self._others]

    def rewrite(self) -> None:
        """Write what it holds, so that caches are as after :meth:`set_back`."""
        for _, memory in _in_use(self._all()):
            _write_memory(memory, _copy(memory))


def _copy(memory: Any) -> Any:
    """Copy memory: within the device if it is there, else on the host, which may be far away."""
    if memory.get_usm_type() == "device":
        with suppress(dpctl.memory.USMAllocationError):
            copy = dpctl.memory.MemoryUSMDevice(memory.nbytes, queue=memory.sycl_queue)
            copy.copy_from_device(memory)
            return copy
    return memory.copy_to_host()


def _write_memory(memory: Any, contents: Any) -> None:
    if isinstance(contents, np.ndarray):
        memory.copy_from_host(contents)
    else:
        memory.copy_from_device(contents)


def _is_near(nbytes: int, result: Array) -> bool:
    """True if so many bytes may hold a result, by itself or with other things, in half or twice its precision."""
    return bool(result.nbytes // 2 <= nbytes <= 2 * _LARGER * result.nbytes)


def _views(contents: Array, result: Array) -> Iterator[Array]:
    """Bytes as elements of a result's type, and of others of floating point; none where they are too few or many."""
    if _is_near(contents.nbytes, result):
        types = (np.float32, np.float64) if result.dtype.kind == "f" else ()
        for each in dict.fromkeys((result.dtype.type, *types)):
            yield contents[: contents.nbytes - contents.nbytes % np.dtype(each).itemsize].view(each)


def _spoil_bytes(contents: Array, result: Array) -> bool:
    """Overwrite a result in bytes; True if they held it."""
    found = [_spoil_array(view, result) for view in _views(contents, result)]  # in each of them
    return any(found)


def _in_use(allocations: Sequence[weakref.ref[Any]]) -> Iterator[tuple[weakref.ref[Any], Any]]:
    for allocation in allocations:
        if (memory := memory_of(allocation)) is not None:
            yield allocation, memory
