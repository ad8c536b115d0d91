"""Find races by running the first work-items of a kernel in plain Python, one after the other.

An element that one work-item stores and another reads, or stores with another value, has no order on a device. Kernels
that order their work-items themselves, by barriers or atomics, and those that plain Python cannot run are left out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from inspect import signature
from itertools import product
from types import CellType, FrameType, FunctionType
from typing import Any, Final

import numpy as np

from numba_sycl.kernel_names import item_at
from numba_sycl.signature import CompiledKernel, as_usm_array, index_space_extents
from numba_sycl.sycl_types import Array
from xebench.session.session import Session

#: Lines of Python after which a kernel is left: a few milliseconds.
MOST_LINES: Final = 20_000
#: Memory of one allocation that is copied to the host, at most.
MOST_BYTES: Final = 64 << 20


class _Enough(Exception):
    """The lines are used up, or the kernel orders its work-items itself."""


class _Race(Exception):
    """Two work-items use an element, and one of them stores it."""


class _Log:
    """Who read and stored which element, by its address."""

    def __init__(self) -> None:
        self.item: Any = None
        self._readers: dict[int, Any] = {}
        self._writers: dict[int, Any] = {}

    def read(self, address: int, words: str) -> None:
        writer = self._writers.get(address, self.item)
        if writer != self.item:
            raise _Race(f"reads {words} in one work-item and stores it in another")
        self._readers.setdefault(address, self.item)

    def store(self, address: int, words: str, *, changes: bool) -> None:
        if changes and self._readers.get(address, self.item) != self.item:
            raise _Race(f"reads {words} in one work-item and stores it in another")
        if changes and self._writers.get(address, self.item) != self.item:
            raise _Race(f"stores {words} in several work-items, with different values")
        self._writers[address] = self.item


class _Watched:
    """An argument: a copy of a device array whose elements tell the log who uses them."""

    def __init__(self, name: str, host: Array, address: int, log: _Log) -> None:
        self._name, self._host, self._address, self._log = name, host, address, log
        self.shape, self.dtype, self.ndim = host.shape, host.dtype, host.ndim
        self.size, self.itemsize, self.strides = host.size, host.itemsize, host.strides

    def __len__(self) -> int:
        return len(self._host)

    def __getitem__(self, index: Any) -> Any:
        self._log.read(*self._place(index))
        return self._host[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        new = self._host.dtype.type(value)
        self._log.store(*self._place(index), changes=bool(self._host[index] != new))
        self._host[index] = new

    def _place(self, index: Any) -> tuple[int, str]:
        """The address of an element, and its words; a library's access, such as an atomic one, ends the simulation."""
        caller = sys._getframe(2).f_globals.get("__name__", "")
        whole = index if isinstance(index, tuple) else (index,)
        if len(whole) != self.ndim or caller.partition(".")[0] in ("numba_sycl", "numba_dpex"):
            raise _Enough
        numbers = [int(one) + extent * (one < 0) for one, extent in zip(whole, self.shape, strict=True)]
        if not all(0 <= one < extent for one, extent in zip(numbers, self.shape, strict=True)):
            raise _Enough
        at = sum(one * stride for one, stride in zip(numbers, self.strides, strict=True))
        return self._address + at, f"{self._name}[{', '.join(map(str, numbers))}]"


class RaceFinder:
    """Looks at the first launch of each kernel of a variant, before it is submitted.

    Args:
        session: session on which the variant launches.

    Attributes:
        found: a sentence for each kernel with a race.
    """

    def __init__(self, session: Session) -> None:
        self.found: list[str] = []
        self._session = session
        self._seen: set[Any] = set()

    def look(self, kernel: Any, _: CompiledKernel, index_space: Any, arguments: Sequence[Any], *__: Any) -> None:
        """Look at a launch; an observer of launches (`RecordedQueues.observing`)."""
        if kernel in self._seen or not hasattr(kernel, "py_func"):
            return
        self._seen.add(kernel)
        self._session.wait()
        with suppress(Exception):  # of what plain Python cannot run, nothing is known
            self._look(kernel.py_func, index_space, arguments)

    def _look(self, function: Callable[..., None], index_space: Any, arguments: Sequence[Any]) -> None:
        log = _Log()
        memories: dict[int, Array] = {}
        names = [*signature(function).parameters][1:]
        own = [_watched(name, value, memories, log) for name, value in zip(names, arguments, strict=True)]
        try:
            with _limited(MOST_LINES), warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                plain = _plain(function, {})
                extents, local = index_space_extents(index_space)
                for index in product(*map(range, extents)):
                    log.item = item = item_at(extents, local, index)
                    plain(item, *own)
        except _Race as race:
            self.found.append(f"kernel {function.__name__} {race}: a race")


def _watched(name: str, value: Any, memories: dict[int, Array], log: _Log) -> Any:
    array = as_usm_array(value)
    if array is None:
        if not np.isscalar(value):
            raise _Enough  # local memory, which needs barriers
        return value
    memory = array.usm_data
    if memory.nbytes > MOST_BYTES:
        raise _Enough
    base = memory._pointer
    if base not in memories:
        memories[base] = memory.copy_to_host()
    address = array.__sycl_usm_array_interface__["data"][0]
    strides = tuple(stride * array.itemsize for stride in array.strides)
    host: Array = np.ndarray(array.shape, array.dtype, memories[base].data, address - base, strides)
    return _Watched(name, host, address, log)


def _plain(function: Any, made: dict[Any, Any]) -> Any:
    """A kernel's function, which calls the plain functions of those that kernels call."""
    if function not in made:
        code = function.__code__
        own = dict(function.__globals__)
        made[function] = plain = FunctionType(code, own, function.__name__, function.__defaults__)
        names: Mapping[str, Any] = {name: own[name] for name in code.co_names if name in own}
        own.update({name: _plain(value.py_func, made) for name, value in names.items() if hasattr(value, "py_func")})
        if function.__closure__:
            values = (cell.cell_contents for cell in function.__closure__)
            cells = [CellType(_plain(value.py_func, made) if hasattr(value, "py_func") else value) for value in values]
            plain = FunctionType(code, own, function.__name__, function.__defaults__, tuple(cells))
            made[function] = plain
    return made[function]


@contextmanager
def _limited(lines: int) -> Iterator[None]:
    """End a block after so many lines of Python."""
    left, before = lines, sys.gettrace()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            raise _Enough
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
