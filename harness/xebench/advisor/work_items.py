"""A kernel's accesses, by running its Python for some neighbouring work-items on the launch's own arguments.

No compiler's IR is read: the kernel's own function runs with stand-ins for its arguments, which note where each
work-item reads and writes, by the place in the code. This is the same on both stacks, keeps lines and columns, and
needs no model of loops. Work-items run one after the other, so what others put into local memory is not there: reading
an integer that this item did not write ends the reading, because addresses may depend on it.
"""

from __future__ import annotations

import bisect
import dis
import functools
import itertools
import linecache
import math
import sys
import types
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from numba_sycl.kernel_names import Item, NdItem, item_at
from numba_sycl.kernel_names import PrivateArray as PlainArray
from numba_sycl.signature import as_usm_array, index_space_extents
from numba_sycl.tensor import asnumpy
from xebench.advisor.facts import LANES

#: Work-items beside one another in dimension 1 that are read.
ROWS: Final = 4
#: Accesses and lines after which a work-item's reading ends; what was read till then counts.
MOST_ACCESSES: Final = 4_000
MOST_LINES: Final = 60_000

#: A place in the code: the code object, and the offset of the instruction.
Place = tuple[types.CodeType, int]


class Unreadable(Exception):
    """The kernel cannot be run in Python; the message says why."""


class _Enough(Exception):
    """A work-item has run for long enough."""


@dataclass
class WorkItem:
    """One work-item: the byte offsets of its accesses by place, and how often each line ran.

    Attributes:
        accesses: offsets in the array, in order, for each place and kind of access.
        lines: number of times that each line ran.
        count, steps: number of accesses, and of lines that ran.
        barriers: number of barriers.
        private_bytes: bytes of its private arrays.
        functions: number of calls of each mathematical function.
        is_guessed: True if it has read what another work-item computes.
        is_whole: False if it ran for too long.
    """

    accesses: dict[tuple[Place, str, int], list[int]] = field(default_factory=dict)
    lines: Counter[tuple[types.CodeType, int]] = field(default_factory=Counter)
    count: int = 0
    steps: int = 0
    barriers: int = 0
    private_bytes: int = 0
    functions: Counter[str] = field(default_factory=Counter)
    is_guessed: bool = False
    is_whole: bool = True

    def note(self, kind: str, position: int, offset: int, depth: int = 2) -> None:
        """Note an access of whoever called the caller."""
        frame = sys._getframe(depth)
        place = frame.f_code, _instruction(frame.f_code, frame.f_lasti)
        self.accesses.setdefault((place, kind, position), []).append(offset)
        self.count += 1
        if self.count > MOST_ACCESSES:
            raise _Enough


@dataclass(frozen=True)
class Memory:
    """An array argument: name, position, kind of memory, and what is where.

    Attributes:
        space: "global" or "local".
        strides: of its elements, in bytes.
    """

    name: str
    position: int
    space: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[], Any]

    @property
    def bytes(self) -> int:
        """Its size."""
        return math.prod(self.shape) * self.dtype.itemsize


class _Array:
    """An array as a work-item sees it; what it writes is seen by itself alone."""

    def __init__(self, memory: Memory, item: WorkItem, own: dict[Any, Any], prefix: tuple[int, ...] = ()) -> None:
        self._memory, self._item, self._own, self._prefix = memory, item, own, prefix
        self.shape = memory.shape[len(prefix) :]
        self.ndim, self.size, self.dtype = len(self.shape), math.prod(self.shape), memory.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def _place(self, index: Any) -> tuple[int, ...]:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, slice) or part is Ellipsis for part in parts):
            raise Unreadable(f"it takes a slice of {self._memory.name}")
        whole = tuple(int(part) + (extent if part < 0 else 0) for part, extent in zip(parts, self.shape, strict=False))
        if not all(0 <= part < extent for part, extent in zip(whole, self.shape, strict=False)):
            raise Unreadable(f"it reads or writes outside of {self._memory.name}")
        return self._prefix + whole

    def note(self, kind: str, index: Any) -> tuple[int, ...]:
        """Note an access two calls further up, and give the place."""
        place = self._place(index)
        offset = sum(map(int.__mul__, place, self._memory.strides))
        self._item.note(kind, self._memory.position, offset, 3)
        return place

    def __getitem__(self, index: Any) -> Any:
        place = self._place(index)
        if len(place) < len(self._memory.shape):
            return _Array(self._memory, self._item, self._own, place)
        return self.value(self.note("load", index))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._own[self._memory.position, self.note("store", index)] = self.dtype.type(value)

    def value(self, place: tuple[int, ...]) -> Any:
        """The element as this work-item sees it."""
        if (self._memory.position, place) in self._own:
            return self._own[self._memory.position, place]
        if self._memory.space == "local":
            self._item.is_guessed = True
            if self.dtype.kind in "iu":
                raise Unreadable(f"what it does depends on integers of other work-items in {self._memory.name}")
            return self.dtype.type(0)
        return self._memory.read()[place]


class _Atomic:
    """An element that is updated atomically."""

    def __init__(self, array: Any, index: Any, *_: Any, **__: Any) -> None:
        self._array, self._index = array, index

    def _update(self, *_: Any) -> Any:
        self._array._item.is_guessed = True
        return self._array.value(self._array.note("atomic", self._index))

    load = store = exchange = fetch_add = fetch_sub = fetch_min = fetch_max = fetch_and = fetch_or = fetch_xor = _update

    def compare_exchange(self, *_: Any) -> Any:
        raise Unreadable("it waits for what other work-items write")


def _atomic_function(array: Any, index: Any, *_: Any) -> Any:
    array._item.is_guessed = True
    return array.value(array.note("atomic", index))


class _Names:
    """A module of kernels' names, whose functions are replaced when they are looked up."""

    def __init__(self, module: Any, replaced: Callable[[Any], Any]) -> None:
        self._module, self._replaced = module, replaced

    def __getattr__(self, name: str) -> Any:
        return self._replaced(getattr(self._module, name))


#: Global of the functions of a kernel, and of no others.
_MARK: Final = "__read_by_work_items__"
_OURS: Final = ("numba_sycl", "numba_dpex", "xebench")
#: Functions of groups that give a number of the device's, for sub-groups as wide as the lanes that are read.
_OF_LANES: Final = {"size": LANES, "max_size": LANES, "group_id": 0, "num_groups": 1}


class _Replacer:
    """Gives a kernel's function, and those that it calls, stand-ins in the place of what only a device has."""

    def __init__(self, item: WorkItem, lane: int) -> None:
        self._item, self._lane = item, lane
        self._made: dict[int, Any] = {}

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A copy of a Python function, with stand-ins in its globals and its closure."""
        if id(function) not in self._made:
            names = {name: self.value(value) for name, value in _globals_of(function).items()}
            cells = tuple(types.CellType(self.value(cell.cell_contents)) for cell in function.__closure__ or ())
            namespace = {"__builtins__": __builtins__, _MARK: True, **names}
            made = types.FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, cells)
            made.__kwdefaults__ = function.__kwdefaults__
            self._made[id(function)] = made
        made_function: Callable[..., Any] = self._made[id(function)]
        return made_function

    def value(self, value: Any) -> Any:
        """What stands for a global."""
        module = value.__name__ if isinstance(value, types.ModuleType) else str(getattr(value, "__module__", ""))
        name = str(getattr(value, "__name__", ""))
        if module.partition(".")[0] in ("math", "numpy", "dpnp") and callable(value) and not isinstance(value, type):
            return self._math(value)
        if isinstance(value, types.ModuleType):
            known = module.partition(".")[0] in (*_OURS, "math", "numpy", "dpnp")
            return _Names(value, self.value) if known else value
        if hasattr(value, "py_func"):
            return self.function(value.py_func)
        if module.partition(".")[0] not in _OURS or (isinstance(value, type) and name not in _STAND_INS):
            return value
        return self._of_kernels(module.rpartition(".")[2], name, value)

    def _math(self, function: Any) -> Any:
        name = str(getattr(function, "name_", None) or function.__name__)
        computed = getattr(np, name, function)

        def counted(*arguments: Any) -> Any:
            self._item.functions[name] += 1
            return computed(*arguments)

        return counted

    def _of_kernels(self, module: str, name: str, value: Any) -> Any:
        if name in _STAND_INS:
            return functools.partial(_STAND_INS[name], self._item) if name in _OF_ITEM else _STAND_INS[name]
        if not callable(value) or module == "native":
            return value
        if module == "atomics":
            return _atomic_function
        if module not in ("sub_group", "work_group"):
            raise Unreadable(f"there is no stand-in for {module}.{name}")
        if name in ("local_id", *_OF_LANES):
            return lambda: _OF_LANES.get(name, self._lane)

        def of_group(*arguments: Any) -> Any:
            self._item.is_guessed = True
            if name.startswith("block_"):
                raise Unreadable(f"there is no stand-in for {name}")
            return arguments[0] if arguments else None

        return of_group


def _globals_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The globals that a function, or a function in it, names."""
    pending, names = [function.__code__], set[str]()
    while pending:
        code = pending.pop()
        names |= set(code.co_names)
        pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return {name: value for name, value in function.__globals__.items() if name in names}


def _private(item: WorkItem, shape: Any, dtype: Any, fill_zeros: bool = False) -> Any:
    extents = shape if isinstance(shape, tuple) else (shape,)
    item.private_bytes += math.prod(extents) * np.dtype(dtype).itemsize
    return PlainArray(shape, dtype, fill_zeros=True)


def _barrier(item: WorkItem, *_: Any) -> None:
    item.barriers += 1


_OF_ITEM: Final = ("PrivateArray", "group_barrier", "barrier")
_STAND_INS: Final[dict[str, Any]] = {
    "AtomicRef": _Atomic,
    "PrivateArray": _private,
    "group_barrier": _barrier,
    "barrier": _barrier,
    "atomic_fence": lambda *_: None,
}


@dataclass(frozen=True)
class Reading:
    """What some work-items of a launch do.

    Attributes:
        kernel: name of the kernel.
        memory: array arguments by position.
        lanes: work-items beside one another in dimension 0.
        rows: work-items beside one another in dimension 1, the first of them the first lane; one without dimension 1.
    """

    kernel: str
    memory: dict[int, Memory]
    lanes: list[WorkItem]
    rows: list[WorkItem]


def read_launch(kernel: Any, index_space: Any, arguments: Sequence[Any]) -> Reading:
    """Run some work-items from the middle of a launch.

    Args:
        kernel: the kernel.
        index_space: index space of the launch.
        arguments: arguments of the launch; arrays are copied to the host where the kernel reads them.

    Raises:
        Unreadable: the kernel cannot be run in Python.
    """
    function = getattr(kernel, "py_func", None)
    if function is None:
        raise Unreadable("it is not written in Python")
    memory = _memory(function, arguments)
    extents, local = index_space_extents(index_space)
    steps = [(step,) for step in range(min(LANES, (local or extents)[0]))]
    rows = [(0, step) for step in range(min(ROWS, (local or extents)[1]))] if len(extents) > 1 else [(0,)]
    run = functools.partial(_run, function, memory, arguments, extents, local)
    with np.errstate(all="ignore"):
        lanes = [run(step, number) for number, step in enumerate(steps)]
        return Reading(function.__name__, memory, lanes, [lanes[0], *(run(step, 0) for step in rows[1:])])


def _memory(function: Callable[..., Any], arguments: Sequence[Any]) -> dict[int, Memory]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount][-len(arguments) :]
    found = {}
    for position, (name, value) in enumerate(zip(names, arguments, strict=False)):
        if (array := as_usm_array(value)) is not None:
            size = array.dtype.itemsize
            strides = tuple(stride * size for stride in array.strides)
            read = functools.cache(functools.partial(asnumpy, array))
            found[position] = Memory(name, position, "global", tuple(array.shape), strides, array.dtype, read)
        elif hasattr(value, "_dtype") and hasattr(value, "_shape"):
            shape, dtype = tuple(map(int, value._shape)), np.dtype(value._dtype)
            inner = [math.prod(shape[dimension + 1 :]) for dimension in range(len(shape))]
            strides = tuple(extent * dtype.itemsize for extent in inner)
            found[position] = Memory(name, position, "local", shape, strides, dtype, lambda: None)
    return found


def _run(
    function: Callable[..., Any],
    memory: dict[int, Memory],
    arguments: Sequence[Any],
    extents: tuple[int, ...],
    local: tuple[int, ...] | None,
    step: tuple[int, ...],
    lane: int,
) -> WorkItem:
    item = WorkItem()
    own: dict[Any, Any] = {}
    given = [_Array(memory[n], item, own) if n in memory else value for n, value in enumerate(arguments)]
    traced = _Replacer(item, lane).function(function)
    asks = function.__code__.co_argcount > len(arguments)
    before = sys.gettrace()
    sys.settrace(functools.partial(_count_lines, item))
    try:
        traced(*([_work_item(extents, local, step)] if asks else []), *given)
    except _Enough:
        item.is_whole = False
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"its Python raises {type(error).__name__}: {error}") from error
    finally:
        sys.settrace(before)
    return item


def _count_lines(item: WorkItem, frame: types.FrameType, event: str, _: Any) -> Any:
    if _MARK not in frame.f_globals:  # what a stand-in does is no step of the kernel
        return None
    if event == "line":
        item.lines[frame.f_code, frame.f_lineno] += 1
        item.steps += 1
        if item.steps > MOST_LINES:
            raise _Enough
    return functools.partial(_count_lines, item)


def _work_item(extents: tuple[int, ...], local: tuple[int, ...] | None, step: tuple[int, ...]) -> Item | NdItem:
    """The item that is so many steps from the first of a group in the middle."""
    steps = [*step, *itertools.repeat(0, len(extents) - len(step))]
    if local is None:
        starts = [extent // 2 for extent in extents]
        starts[0] = max(0, starts[0] - starts[0] % LANES - (LANES if extents[0] < 2 * LANES else 0))
        starts[1:2] = [
            min(start, max(0, extent - ROWS)) for start, extent in zip(starts[1:2], extents[1:2], strict=True)
        ]
    else:
        starts = [extent // size // 2 * size for extent, size in zip(extents, local, strict=True)]
    return item_at(extents, local, tuple(map(int.__add__, starts, steps)))


def _instruction(code: types.CodeType, offset: int) -> int:
    """The offset where an instruction begins: once it is specialized, Python 3.12 stands at the end of its cache."""
    begins = _instructions(code)
    return begins[bisect.bisect_right(begins, offset) - 1]


@functools.cache
def _instructions(code: types.CodeType) -> list[int]:
    return [each.offset for each in dis.get_instructions(code)]


def source_of(place: Place) -> tuple[str, int, str]:
    """The file, the line and the text of an access."""
    code, offset = place
    line, end, start_column, end_column = next(itertools.islice(code.co_positions(), offset // 2, None))
    number = line or code.co_firstlineno
    text = linecache.getline(code.co_filename, number)
    if line == end and start_column is not None:
        text = text.encode()[start_column:end_column].decode()
    return code.co_filename, number, text.strip()
