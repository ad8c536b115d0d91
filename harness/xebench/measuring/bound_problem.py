"""Put a problem's arrays on the device, and set them back before a sample."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xebench.errors import TooLarge, suggestion
from xebench.measuring.comparison import same_bits
from xebench.patterns.problem import InOut, Output, Problem, device_bytes
from xebench.system.runtime.devices import gib
from xebench.system.sycl_types import Array

if TYPE_CHECKING:
    import dpctl

    from xebench.measuring.session.device_memory import DeviceMemory


class HostView(SimpleNamespace):
    """A problem as its reference sees it: numpy arrays and numbers as attributes."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the problem has no {name!r}: {suggestion(name, vars(self))}")


class _HostArrays:
    """The host's arrays of a problem whose contents change; they are written when first read."""

    def __init__(self) -> None:
        self._own: dict[str, Array] = {}
        self._contents: Mapping[str, Array] = {}
        self._is_read = self._is_written = False

    def make(self, contents: Mapping[str, Array]) -> dict[str, Array]:
        """Views that cannot be written of arrays for such contents."""
        self._own = {name: np.empty_like(array) for name, array in contents.items()}
        self._contents = contents
        for array in self._own.values():
            array.setflags(write=False)
        return {name: array.view() for name, array in self._own.items()}  # whose flag cannot be set back

    def show(self, contents: Mapping[str, Array]) -> None:
        """Write these contents, also if the arrays hold them already, so that caches are the same each time."""
        self._contents, self._is_written = contents, False
        if self._is_read:
            self.read()

    def read(self) -> None:
        """Write the contents, because the arrays are read from now on."""
        self._is_read = True
        for name, own in self._own.items() if not self._is_written else ():
            own.setflags(write=True)
            own[...] = self._contents[name]
            own.setflags(write=False)
        self._is_written = True


class Bound(HostView):
    """A problem as variants see it: device arrays, host arrays under ``host``, numbers as attributes.

    All variants share it, so what is there cannot be given another value.

    Attributes:
        host_was_read: True if ``host`` was read since this was set to False.
    """

    __slots__ = ("_host_arrays", "host_was_read")

    @property
    def host(self) -> Bound:
        """Arrays of the host."""
        object.__setattr__(self, "host_was_read", True)
        self._host_arrays.read()
        return vars(self)["host"]  # type: ignore[no-any-return]

    def with_numbers(self, numbers: Mapping[str, Any]) -> Bound:
        """The same arrays, with further numbers."""
        made = Bound(**{**vars(self), **numbers})
        object.__setattr__(made, "_host_arrays", self._host_arrays)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError(f"p.{name} cannot be set, since all variants share it: write its elements")
        super().__setattr__(name, value)


class Binding:
    """A problem with its arrays on a device.

    Args:
        problem: the problem on the host.
        parameters: of the family; they become attributes too.
        memory: the device's memory.

    Attributes:
        bound: what variants see.
        initial: initial contents of the in-out arrays.
        inputs: contents of the arrays that no variant may change.
        arrays: the arrays on the device, and outputs of the host, which variants reach by ``bound``.
    """

    def __init__(self, problem: Problem, parameters: Mapping[str, Any], memory: DeviceMemory) -> None:
        self._memory = memory
        self._outputs = {n: f for n, f in problem.fields.items() if isinstance(f, Output)}
        self._take(problem)
        host = {**self.inputs, **self.initial}
        self._host_arrays = _HostArrays()
        self._copies: dict[tuple[int, str], Any] = {}
        values: dict[str, Any] = dict(parameters)
        for name, field in problem.fields.items():
            if isinstance(field, Output):
                blank = np.zeros(field.shape, field.dtype)
                values[name] = blank if field.host else memory.upload(blank)
                if field.host:
                    host[name] = blank
            else:
                values[name] = memory.upload(host[name]) if name in host else field
        self.bound = Bound(**{"host": Bound(**host), **values})
        self.arrays = {name: values[name] for name in (*self._outputs, *host)}
        object.__setattr__(self.bound, "_host_arrays", self._host_arrays)

    def _take(self, problem: Problem) -> None:
        self.initial = {n: np.ascontiguousarray(f.initial) for n, f in problem.fields.items() if isinstance(f, InOut)}
        self.inputs = {n: np.ascontiguousarray(f) for n, f in problem.fields.items() if isinstance(f, np.ndarray)}

    def show(self, problem: Problem, kept_as: int | None = None) -> None:
        """Write the data of a problem that is alike (`xebench.measuring.problem_store`) into the same arrays.

        Those of the host must be the binding's own: see :meth:`own_host_arrays`.

        Args:
            problem: has the data.
            kept_as: a number under which copies stay on the device, from which they are written the next time.
        """
        self._take(problem)
        self._host_arrays.show(self.inputs | self.initial)
        for name, array in (self.inputs | self.initial).items():
            target = self.arrays[name]
            if kept_as is None:
                self._memory.write(target, array)
                continue
            if (kept_as, name) not in self._copies:
                self._copies[kept_as, name] = self._memory.upload(array)
            self._memory.copy(target, self._copies[kept_as, name])

    def own_host_arrays(self) -> None:
        """Give variants copies of the host's arrays, which :meth:`show` can write; before any variant runs."""
        vars(vars(self.bound)["host"]).update(self._host_arrays.make(self.inputs | self.initial))

    def reset(self) -> None:
        """Put the initial contents of the in-out arrays back."""
        for name, array in self.initial.items():
            self._memory.write(self.arrays[name], array)

    def restore(self, name: str) -> None:
        """Put the contents of an input back."""
        self._memory.write(self.arrays[name], self.inputs[name])

    def holds_input(self, name: str) -> bool:
        """True if an input on the device has the right bits."""
        return same_bits(self._memory.read(self.arrays[name]), self.inputs[name])

    def is_given(self, result: Array) -> bool:
        """True if a result has the bits of an array that the problem gives, so it is a copy of that."""
        return any(same_bits(array, result) for array in self._given)

    def has_elements_of(self, result: Array) -> bool:
        """True if each element of a result is one of an array that the problem gives: copies alone can make it."""
        given = [array.reshape(-1) for array in self._given if array.dtype == result.dtype]
        return bool(given) and (self.is_given(result) or bool(np.isin(result, np.concatenate(given)).all()))

    @property
    def _given(self) -> list[Array]:
        return [*self.inputs.values(), *self.initial.values()]

    def poison(self, contents: Mapping[str, Array]) -> None:
        """Overwrite the outputs with what no right variant writes; those that are not named, with what they hold."""
        for name in self._outputs:
            target = self.arrays[name]
            if name in contents:
                self._write(target, contents[name])
            else:
                self._memory.rewrite(target)

    def poison_part(self, contents: Mapping[str, Array], at: float) -> None:
        """Overwrite some elements of outputs; see `part_at`."""
        for name, array in contents.items():
            self._write(self._part(name, at), array)

    def results_in_part(self, at: float) -> dict[str, Array]:
        """Host copies of some elements of everything that a variant must write; see `part_at`."""
        return {name: self._read(self._part(name, at)) for name in self.written()}

    def _part(self, name: str, at: float) -> Any:
        array = self.arrays[name]
        flat = array.reshape(-1) if isinstance(array, np.ndarray) else self._memory.flat(array)
        return flat[part_at(flat.size, at)]

    def written(self) -> dict[str, Any]:
        """The arrays that a variant must write, on the device or the host."""
        return {name: self.arrays[name] for name in (*self._outputs, *self.initial)}

    def results(self, known: Collection[str] = ()) -> dict[str, Array]:
        """Host copies of everything that a variant must write, except what is known to be right."""
        return {name: self._read(value) for name, value in self.written().items() if name not in known}

    def _write(self, target: Any, contents: Array) -> None:
        """Overwrite an array of the host or the device."""
        if isinstance(target, np.ndarray):
            target[...] = contents
        else:
            self._memory.write(target, contents)

    def _read(self, source: Any) -> Array:
        """A copy of an array of the host or the device."""
        return source.copy() if isinstance(source, np.ndarray) else self._memory.read(source)


#: Elements of a part: so few that caches stay as they are when they are written.
PART: Final = 64


def part_at(size: int, at: float) -> slice:
    """A few neighbours among so many elements, from ``at`` on: 0 for the first ones, nearly 1 for the last."""
    begin = int(at * max(1, size - PART + 1))
    return slice(begin, begin + PART)


def output_types(problem: Problem) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and dtype of everything that a variant must write."""
    outputs = {n: (f.shape, np.dtype(f.dtype)) for n, f in problem.fields.items() if isinstance(f, Output)}
    states = {n: (f.initial.shape, f.initial.dtype) for n, f in problem.fields.items() if isinstance(f, InOut)}
    return outputs | states


def fills(problem: Problem) -> dict[str, Any]:
    """For each output the value of the elements that variants do not write; None if they write all."""
    return {name: field.fill for name, field in problem.fields.items() if isinstance(field, Output)}


def initial_contents(problem: Problem) -> dict[str, Any]:
    """The contents of arrays before a variant writes them, for arrays that do not hold poison alone."""
    states = {name: field.initial for name, field in problem.fields.items() if isinstance(field, InOut)}
    return states | {name: fill for name, fill in fills(problem).items() if fill is not None}


def host_view(problem: Problem, parameters: Mapping[str, Any]) -> HostView:
    """The problem as its reference sees it: numpy arrays and numbers."""
    fields = {
        name: field.initial if isinstance(field, InOut) else field
        for name, field in problem.fields.items()
        if not isinstance(field, Output)
    }
    return HostView(**{**parameters, **fields})


def check_memory(problem: Problem, global_memory_bytes: int, max_alloc_bytes: int, copies: int = 1) -> None:
    """Refuse a problem that does not fit the device.

    Args:
        problem: on the host.
        global_memory_bytes: that the device has.
        max_alloc_bytes: of one allocation; 0 where that is not known.
        copies: how many processes put it on the device.

    Raises:
        TooLarge: names what is needed and what there is.
    """
    sizes = [device_bytes(field) for field in problem.fields.values()]
    total, largest = copies * sum(sizes), max(sizes, default=0)
    # The driver and temporaries need a part; 0.9 is what Intel's own allocators leave.
    if total > 0.9 * global_memory_bytes:
        raise TooLarge(f"needs {gib(total)} of device memory, the device has {gib(global_memory_bytes)}")
    if max_alloc_bytes and largest > max_alloc_bytes:
        raise TooLarge(f"needs one allocation of {gib(largest)}, the device allows {gib(max_alloc_bytes)}")


#: So many times a problem must fit a device that keeps copies of both sets of data.
ROOM: Final = 8


def has_room(device: dpctl.SyclDevice, problem: Problem) -> bool:
    """True for a GPU, which reads copies of its data faster than the host's, if they are small beside its memory."""
    return bool(device.is_gpu and ROOM * problem.working_set_bytes <= device.global_mem_size)
