"""What a variant has between its samples: memory, which is set back before a check, and threads, which must wait.

`KeptArrays` finds the host's arrays in what the function closes over, and in containers and objects there;
`KeptMemory` has the device's. What the variant's preparation wrote is put back, and the rest is spoilt. A variant that
copies results of an earlier sample, or finds there that it has computed them, has nothing to copy or find.

Results themselves are looked for also in what the function reaches by names of its module, after a checked call: spoilt
there, they must come again. Nothing else is written there, as other variants may use it.

The threads that a variant starts must not work on when a call is over, since nobody times that (`OwnThreads`).
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

import dpctl.memory
import numpy as np

from xebench.errors import XebenchError
from xebench.measuring.session.device_memory import memory_of, spoil
from xebench.patterns.pattern_file import PACKAGES
from xebench.system.sycl_types import Array

#: Packages whose objects hold no arrays of a variant's, but for kernels, which are made of its functions.
_NOT_ITS_OWN: Final = ("dpctl", "dpnp", "llvmlite", "numba", "numba_dpex", "numpy", "xebench")
#: So many times as large as a result may be what holds it among other things, and so many places of its first element
#: are looked at.
_LARGER: Final = 3
_PLACES: Final = 64


class KeptArrays:
    """The arrays that a function holds now, with their contents."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._prepared = {id(array): (array, array.copy()) for array in arrays_in(function)}

    def spoil(self, result: Array) -> bool:
        """Overwrite these elements wherever the function reaches them; whether it does."""
        found = [(array, part) for array in arrays_in(self._function, by_name=True) for part in _parts(array, result)]
        for array, part in found:
            _write_array(array, _poison(array), part)
        return bool(found)

    def set_back(self) -> None:
        """Have them hold what they held, and those that are new a poison."""
        for array in arrays_in(self._function):
            _, contents = self._prepared.get(id(array), (None, None))
            _write_array(array, _poison(array) if contents is None else contents)


def has_bits(contents: Array, result: Array) -> bool:
    """True if two arrays have the same bits, whatever their shape, and more than one value."""
    same = contents.nbytes == result.nbytes and contents.tobytes() == result.tobytes()
    return same and bool((result != result.flat[0]).any())


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


def arrays_in(root: Any, *, by_name: bool = False) -> Iterator[Array]:
    """The arrays of numbers that an object holds, each once.

    Args:
        root: the object.
        by_name: whether also those that a function or a class of a pattern file reaches by names of its module.
    """
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
            if by_name:
                left += _named(value)


def _named(value: Any) -> list[Any]:
    """What a pattern file's function, class or object refers to beside what it holds."""
    if not isinstance(value, type | FunctionType):
        value = type(value)
    if not str(value.__module__).startswith(PACKAGES):
        return []
    if isinstance(value, type):
        return list(vars(value).values())
    return [value.__globals__[name] for name in _names_of(value.__code__) if name in value.__globals__]


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_of(inner)


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
    """Those of an object of the variant's own; what a module has of the variant's, a function names."""
    if isinstance(value, type | ModuleType):
        return []
    try:
        attributes = vars(value)
    except Exception:  # it has none, or a property of that name
        return []
    module = type(value).__module__  # of some types of C it is no text
    is_own = isinstance(module, str) and module.partition(".")[0] not in _NOT_ITS_OWN
    return list(attributes.values()) if is_own or "py_func" in attributes else []


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # of a name that has no value yet
        return False


def _poison(array: Array) -> Any:
    """Not a number; the largest whole number; true."""
    return array.dtype.type(np.nan) if array.dtype.kind in "fc" else np.array(-1).astype(array.dtype)


def _write_array(array: Array, contents: Any, part: slice | None = None) -> None:
    try:
        could_be_written = array.flags.writeable
        array.setflags(write=True)
        target = array if part is None else array.reshape(-1)[part]
        target[...] = contents
        array.setflags(write=could_be_written)
    except ValueError:  # it is one of the problem's, which cannot be written
        return


class KeptMemory:
    """The memory of one preparation of a variant."""

    def __init__(self) -> None:
        self._prepared: list[tuple[weakref.ref[Any], Any]] = []
        self._others: list[weakref.ref[Any]] = []

    def prepared(self, allocations: Sequence[weakref.ref[Any]], *, written: bool) -> None:
        """Take note of what a preparation allocated, when it is over.

        Args:
            allocations: of the session.
            written: whether the preparation submitted commands or read data; else device memory holds its poison.
        """
        for allocation, memory in _in_use(allocations):
            if written or memory.get_usm_type() != "device":
                self._prepared.append((allocation, _copy(memory)))
            else:
                self._others.append(allocation)

    def add(self, allocations: Sequence[weakref.ref[Any]]) -> None:
        """Take note of what was allocated later, and is in use still."""
        self._others = [allocation for allocation in (*self._others, *allocations) if allocation() is not None]

    @property
    def migrates(self) -> bool:
        """True if some is shared memory: after the host wrote it, a device takes longer to read it."""
        return any(memory.get_usm_type() == "shared" for _, memory in _in_use(self._all()))

    def set_back(self) -> None:
        """Have memory hold what it held when the preparation was over, and a poison where that wrote nothing."""
        for allocation, contents in self._prepared:
            for _, memory in _in_use([allocation]):
                _write_memory(memory, contents)
        for _, memory in _in_use(self._others):
            spoil(memory)

    def spoil(self, result: Array) -> bool:
        """Overwrite these elements wherever the variant's memory holds them; whether it does."""
        found = False
        for _, memory in _in_use(self._all()):
            if result.nbytes // 2 <= memory.nbytes <= 2 * _LARGER * result.nbytes:
                found |= _spoil_part(memory, result)
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


def _spoil_part(memory: Any, result: Array) -> bool:
    """Overwrite a result in memory, held in its own type or in another one of floating point; whether it was there."""
    contents, found = memory.copy_to_host(), False
    types = (np.float32, np.float64) if result.dtype.kind == "f" else (result.dtype.type,)
    for each in dict.fromkeys((result.dtype.type, *types)):
        array = contents[: memory.nbytes - memory.nbytes % np.dtype(each).itemsize].view(each)
        for part in _parts(array, result):
            array[part] = _poison(array)
            found = True
    if found:
        memory.copy_from_host(contents)
    return found


def _in_use(allocations: Sequence[weakref.ref[Any]]) -> Iterator[tuple[weakref.ref[Any], Any]]:
    for allocation in allocations:
        if (memory := memory_of(allocation)) is not None:
            yield allocation, memory


#: How long threads are looked at, and the processor time that a waiting one does not use meanwhile.
_LOOK_S: Final = 0.01
_AT_WORK_NS: Final = 100_000


class OwnThreads:
    """The threads that Python started in calls of a family's variants; those before are nobody's."""

    def __init__(self) -> None:
        self._owners: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()
        self._note("")

    def note(self, variant: str) -> None:
        """Take those as a variant's that are new, when a call of it is over."""
        if threading.active_count() > 1:
            self._note(variant)

    def _note(self, variant: str) -> None:
        for thread in threading.enumerate():
            if not _is_anothers(thread):
                self._owners.setdefault(thread, variant)

    def used_ns(self, variant: str) -> dict[threading.Thread, int]:
        """The processor time that each thread of a variant has used when a call of it is over."""
        self.note(variant)
        return {thread: _used_ns(thread) for thread, owner in self._owners.items() if owner == variant}

    @staticmethod
    def see_them_wait(used_ns: Mapping[threading.Thread, int]) -> None:
        """Look whether threads have waited since then.

        Raises:
            XebenchError: one of them works.
        """
        if used_ns:
            time.sleep(_LOOK_S)
        for thread, before_ns in used_ns.items():
            if _used_ns(thread) - before_ns > _AT_WORK_NS:
                raise XebenchError(
                    f"its thread {thread.name} works on when the call is over: have the sample wait for its threads"
                )


def _is_anothers(thread: threading.Thread) -> bool:
    """True for one of this package, and for a driver's, which has called something of Python's."""
    target = getattr(thread, "_target", None)  # it is gone when the thread is over
    own = str(getattr(target, "__module__", "")).partition(".")[0] == __name__.partition(".")[0]
    return own or isinstance(thread, threading._DummyThread)


def _used_ns(thread: threading.Thread) -> int:
    """Processor time that a thread has used; 0 when it has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text().partition(" ")[0])
    return 0
