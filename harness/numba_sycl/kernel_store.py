"""Kernels of a program: compiled once for the types of their arguments, built once for each context and device.

Parts of a device share what is built for the whole one, in a context that has it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import dpctl

from numba_sycl.compiler import compile_for
from numba_sycl.device_kernel import DeviceKernel, build
from numba_sycl.events import DeviceEvent
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.launch import PreparedLaunch
from numba_sycl.narrow import is_narrow, is_within, narrow_switch
from numba_sycl.recording import unrecorded
from numba_sycl.signature import CompiledKernel, index_space_extents, signature_of
from numba_sycl.spirv_cache import SpirvCache
from numba_sycl.sycl_types import Event
from numba_sycl.width_check import submit_both

#: The module, its options, the device, the kernel in it, and the context.
Key = tuple[str, KernelOptions, Any, Any, dpctl.SyclContext]

#: Submits a launch whose arrays are no memory, after some events.
Submitter = Callable[[PreparedLaunch, Sequence[Event]], DeviceEvent]


#: So many places and builds are kept. The place that was used least recently goes first, and the oldest build.
MOST_KEPT: Final = 512
#: So many launches are kept of a place: for different types of arguments, or for threads that submit at once.
_MOST_OF_A_PLACE: Final = 8

_Name = TypeVar("_Name")
_Value = TypeVar("_Value")


def keep(cache: dict[_Name, _Value], name: _Name, value: _Value) -> _Value:
    """Keep a value, and drop the first where there are too many."""
    while len(cache) >= MOST_KEPT and name not in cache:
        cache.pop(next(iter(cache)), None)
    cache[name] = value
    return value


@dataclass
class Place:
    """A kernel on a device, in a context, with one kind of index space.

    Attributes:
        kernel: held, as the place is found by its id.
        is_narrow: the device is given narrowed modules.
        is_checked: these are compared with the ones in 64 bits at each launch.
        idle: launches that were prepared and are not in use, the latest last. They hold no arguments.
    """

    kernel: Any
    is_narrow: bool
    is_checked: bool
    idle: list[PreparedLaunch] = field(default_factory=list)

    def take(self, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]) -> PreparedLaunch | None:
        """The latest launch, with these arguments; None where they would be compiled to another kernel."""
        try:
            launch = self.idle.pop()
        except IndexError:
            return None
        may_narrow = self.is_narrow and launch.device_kernel.compiled.narrow
        if not may_narrow and launch.takes(queue, index_space, arguments):
            return launch
        self.idle.append(launch)
        return None

    def take_for(self, wanted: CompiledKernel) -> PreparedLaunch | None:
        """An idle launch of this kernel, without arguments."""
        for launch in self.idle[::-1]:
            compiled = launch.device_kernel.compiled
            if (compiled.signature, compiled.bounded) == (wanted.signature, wanted.bounded):
                with suppress(ValueError):  # another thread has taken it
                    self.idle.remove(launch)
                    return launch
        return None

    def give_back(self, launch: PreparedLaunch) -> None:
        """Have the next launch look at this one first."""
        launch.release()
        self.idle.append(launch)
        del self.idle[:-_MOST_OF_A_PLACE]


class KernelStore:
    """Compiles, builds and submits kernels.

    A kernel, a device, a context and a kind of index space are a *place*, whichever queue is submitted to. The launch
    that was submitted last at a place takes the queue, the extents and the arguments of the next one as they are; only
    if they do not fit, the types of all are looked at, which costs as much as a launch.

    Several threads may submit at once: a launch is taken out of its place as long as a thread uses it. What they
    compile and build is made by one after the other. Nothing that is kept holds an array.
    """

    def __init__(self) -> None:
        self._cache = SpirvCache()
        self._built: dict[Key, DeviceKernel] = {}
        self._places: OrderedDict[Any, Place] = OrderedDict()  # the context comes first in their names
        self._making = threading.Lock()

    def submit(
        self,
        kernel: Any,
        queue: dpctl.SyclQueue,
        index_space: Any,
        arguments: Sequence[Any],
        depends: Sequence[Event] = (),
        submitter: Submitter | None = None,
    ) -> DeviceEvent:
        """Submit a kernel, compiling and building it first where that has not been done.

        Args:
            kernel, queue, index_space, arguments, depends: see `PreparedLaunch`.
            submitter: submits arguments that dpctl does not take; dpctl by default.

        Raises:
            UnsupportedByDevice: the device's limits do not allow this launch.
        """
        extents, local = index_space_extents(index_space)
        context, device = queue.sycl_context, queue.sycl_device
        name = (context, device, id(kernel), len(extents), local is None)
        try:
            place = self._places[name]
            self._places.move_to_end(name)
        except KeyError:
            place = Place(kernel, is_narrow(device), narrow_switch() == "check")
        launch = self._taken(place, queue, index_space, arguments)
        if launch is None:
            with self._making:
                launch = self._prepare(place, queue, index_space, arguments)
                place = keep(self._places, name, self._places.get(name, place))
        self._starts(launch)
        if submitter is not None:
            event = submitter(launch, depends)
        elif place.is_checked and launch.device_kernel.compiled.bounded:
            event = submit_both(self._in_64_bits(kernel, queue, index_space, arguments), launch, arguments, depends)
        else:
            event = launch.submit(depends)
        place.give_back(launch)
        return event

    def _taken(
        self, place: Place, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]
    ) -> PreparedLaunch | None:
        """A launch that takes these arguments as they are, if any."""
        return place.take(queue, index_space, arguments)

    def _starts(self, launch: PreparedLaunch) -> None:
        """Called before each launch is submitted."""

    def _in_64_bits(
        self, kernel: Any, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]
    ) -> PreparedLaunch:
        with self._making:
            compiled = compile_for(kernel, signature_of(kernel, index_space, arguments), self._cache)
            return PreparedLaunch(self._built_for(compiled, queue), queue, index_space, arguments)

    def _prepare(
        self, place: Place, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]
    ) -> PreparedLaunch:
        """The launch for the types of these arguments, with their values."""
        compiled = self._compiled(place, queue, index_space, arguments)
        launch = place.take_for(compiled)
        if launch is None:
            return PreparedLaunch(self._built_for(compiled, queue), queue, index_space, arguments)
        launch.move(queue, index_space)
        launch.rebind(arguments)
        return launch

    def _compiled(
        self, place: Place, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]
    ) -> CompiledKernel:
        compiled = compile_for(place.kernel, signature_of(place.kernel, index_space, arguments), self._cache)
        extents, _ = index_space_extents(index_space)
        may_narrow = place.is_narrow and compiled.narrow and is_within(compiled.limit, extents, arguments)
        return compiled.narrowed if may_narrow else compiled

    def _built_for(self, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        # the same module may have other options of the driver's compiler
        # one text holds several kernels; a copy of int32 and one of uint32 are the same module, for other arguments
        which = (compiled.name, compiled.signature)
        # a context may have several devices, each with code of its own
        queue = _of_undivided_device(queue)
        key = (compiled.sha256, compiled.options, queue.sycl_device, which, queue.sycl_context)
        return self._built[key] if key in self._built else keep(self._built, key, self._made(key, compiled, queue))

    def _made(self, key: Key, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        return build(compiled, queue)


def _of_undivided_device(queue: dpctl.SyclQueue) -> dpctl.SyclQueue:
    """A queue on the device whose part this one is on, where the context has it: what is built for it runs on all."""
    whole = queue.sycl_device.parent_device
    if whole is None or whole not in queue.sycl_context.get_devices():
        return queue
    with unrecorded:
        return dpctl.SyclQueue(queue.sycl_context, whole)
