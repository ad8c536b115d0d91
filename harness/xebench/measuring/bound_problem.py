"""Put a problem's arrays on the device, and set them back before a sample."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from numba_sycl.sycl_types import Array
from xebench.errors import TooLarge, suggestion
from xebench.measuring.array_check import same_bits
from xebench.patterns.problem import InOut, Output, Problem, device_bytes
from xebench.system.runtime.devices import gib

if TYPE_CHECKING:
    from xebench.session.device_memory import DeviceMemory


class HostView(SimpleNamespace):
    """A problem as its reference sees it: numpy arrays and numbers as attributes."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the problem has no {name!r}: {suggestion(name, vars(self))}")


class Bound(HostView):
    """A problem as variants see it: device arrays, host arrays under ``host``, numbers as attributes.

    All variants share it, so what is there cannot be given another value.
    """

    def with_numbers(self, numbers: Mapping[str, Any]) -> Bound:
        """The same arrays, with further numbers."""
        return Bound(**{**vars(self), **numbers})

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError(f"p.{name} cannot be set, since all variants share it: write its elements")
        super().__setattr__(name, value)


class Binding:
    """A problem with its arrays on a device.

    Args:
        problem: the problem on the host.
        parameters: parameters of the family, which become attributes too.
        memory: the device's memory.

    Attributes:
        bound: object that variants receive.
        initial: initial contents of the in-out arrays.
        inputs: contents of the arrays that no variant may change.
        arrays: arrays on the device, and outputs on the host, that variants use through ``bound``.
    """

    def __init__(self, problem: Problem, parameters: Mapping[str, Any], memory: DeviceMemory) -> None:
        self._memory = memory
        self._outputs = {n: f for n, f in problem.fields.items() if isinstance(f, Output)}
        self.initial = {n: np.ascontiguousarray(f.initial) for n, f in problem.fields.items() if isinstance(f, InOut)}
        self.inputs = {n: np.ascontiguousarray(f) for n, f in problem.fields.items() if isinstance(f, np.ndarray)}
        host = {**self.inputs, **self.initial}
        values: dict[str, Any] = dict(parameters)
        for name, field in problem.fields.items():
            if isinstance(field, Output):
                blank = np.zeros(field.shape, field.dtype)
                values[name] = blank if field.host else memory.upload_guarded(blank)
                if field.host:
                    host[name] = blank
            elif name in self.initial:
                values[name] = memory.upload_guarded(host[name])
            else:
                values[name] = memory.upload(host[name]) if name in host else field
        self.bound = Bound(**{"host": Bound(**host), **values})
        self.arrays = {name: values[name] for name in (*self._outputs, *host)}

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

    def poison(self, contents: Mapping[str, Array]) -> None:
        """Overwrite the outputs with what no right variant writes."""
        for name in self._outputs.keys() & contents.keys():
            self._write(self.arrays[name], contents[name])

    def written(self) -> dict[str, Any]:
        """The arrays that a variant must write, on the device or the host."""
        return {name: self.arrays[name] for name in (*self._outputs, *self.initial)}

    def written_beyond(self) -> list[str]:
        """Names of the written arrays in device memory behind which something was written, too."""
        guarded = ((name, array) for name, array in self.written().items() if not isinstance(array, np.ndarray))
        return [name for name, array in guarded if self._memory.was_overrun(array)]

    def _write(self, target: Any, contents: Array) -> None:
        """Overwrite an array of the host or the device."""
        if isinstance(target, np.ndarray):
            target[...] = contents
        else:
            self._memory.write(target, contents)

    def read(self, source: Any) -> Array:
        """A copy of an array of the host or the device."""
        return source.copy() if isinstance(source, np.ndarray) else self._memory.read(source)


def output_types(problem: Problem) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and dtype of everything that a variant must write."""
    outputs = {n: (f.shape, np.dtype(f.dtype)) for n, f in problem.fields.items() if isinstance(f, Output)}
    states = {n: (f.initial.shape, f.initial.dtype) for n, f in problem.fields.items() if isinstance(f, InOut)}
    return outputs | states


def tolerances(problem: Problem, rtol: float, atol: float) -> dict[str, tuple[float, float]]:
    """The relative and the absolute tolerance of everything that a variant must write.

    Args:
        problem: the problem, whose outputs may have tolerances of their own.
        rtol, atol: tolerances of the pattern.
    """
    written = {name: field for name, field in problem.fields.items() if isinstance(field, Output | InOut)}
    return {
        name: (rtol if field.rtol is None else field.rtol, atol if field.atol is None else field.atol)
        for name, field in written.items()
    }


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


def require_memory(problem: Problem, global_memory_bytes: int, max_alloc_bytes: int, copies: int = 1) -> None:
    """Refuse a problem that does not fit the device.

    Args:
        problem: problem on the host.
        global_memory_bytes: memory of the device.
        max_alloc_bytes: largest allocation; 0 if unknown.
        copies: number of processes that put the problem on the device.

    Raises:
        TooLarge: the problem does not fit; the message has both sizes.
    """
    sizes = [device_bytes(field) for field in problem.fields.values()]
    total, largest = copies * sum(sizes), max(sizes, default=0)
    # The driver and temporaries need a part; 0.9 is what Intel's own allocators leave.
    if total > 0.9 * global_memory_bytes:
        raise TooLarge(f"needs {gib(total)} of device memory, the device has {gib(global_memory_bytes)}")
    if max_alloc_bytes and largest > max_alloc_bytes:
        raise TooLarge(f"needs one allocation of {gib(largest)}, the device allows {gib(max_alloc_bytes)}")
