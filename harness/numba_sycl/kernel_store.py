"""Kernels of a session: compiled once for the types of their arguments, built once for each context and device.

Parts of a device share what is built for the whole one, in a context that has it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import dpctl

from numba_sycl.compiler import compile_for
from numba_sycl.device_kernel import DeviceKernel, binary_of, build, load
from numba_sycl.errors import KernelBuildError, Unsupported
from numba_sycl.events import DeviceEvent
from numba_sycl.kernel_options import KernelOptions
from numba_sycl.launch import PreparedLaunch
from numba_sycl.narrow import is_narrow, is_within, narrow_switch
from numba_sycl.opencl_library import OpenCLError
from numba_sycl.recording import unrecorded
from numba_sycl.signature import CompiledKernel, index_space_extents, signature_of
from numba_sycl.spirv_cache import SpirvCache
from numba_sycl.sycl_types import Event
from numba_sycl.width_check import submit_both

#: The module, its options, the device and the kernel in it, which a driver's binary is of; and the context.
_Key = tuple[str, KernelOptions, Any, Any, dpctl.SyclContext]

#: Called with the compiled kernel, the index space, the arguments and the queue of a launch.
LaunchObserver = Callable[[CompiledKernel, Any, Sequence[Any], dpctl.SyclQueue], None]

#: Submits a launch whose arrays are no memory, after some events.
Submitter = Callable[[PreparedLaunch, Sequence[Event]], DeviceEvent]


@dataclass(frozen=True)
class Compilation:
    """One stage of making a kernel: typing, translate or build; ``cached`` when the SPIR-V came from disk."""

    kernel: str
    stage: str
    host_ns: int
    cached: bool


#: So many places, builds and times are kept; the oldest goes first.
MOST_KEPT: Final = 512
#: So many launches are kept of a place: for different types of arguments, or for threads that submit at once.
_MOST_OF_A_PLACE: Final = 8

_Name = TypeVar("_Name")
_Value = TypeVar("_Value")


def keep(cache: dict[_Name, _Value], name: _Name, value: _Value) -> _Value:
    """Keep a value, and drop the oldest where there are too many."""
    while len(cache) >= MOST_KEPT and name not in cache:
        cache.pop(next(iter(cache)), None)
    cache[name] = value
    return value


@dataclass
class _Place:
    """A kernel, a queue and the extents of an index space.

    Attributes:
        kernel, queue: held, as the place is found by their ids.
        is_narrow: the device is given narrowed modules.
        is_checked: these are compared with the ones in 64 bits at each launch.
        idle: launches that were prepared and are not in use, the latest last. They hold no arguments.
    """

    kernel: Any
    queue: dpctl.SyclQueue
    is_narrow: bool
    is_checked: bool
    idle: list[PreparedLaunch] = field(default_factory=list)

    def take(self, arguments: Sequence[Any]) -> PreparedLaunch | None:
        """The latest launch, with these arguments; None where they would be compiled to another kernel."""
        try:
            launch = self.idle.pop()
        except IndexError:
            return None
        may_narrow = self.is_narrow and launch.device_kernel.compiled.narrow
        if not may_narrow and launch.takes(arguments):
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
    """Compiles, builds and submits kernels, and remembers how long each stage took.

    A kernel, a queue and the extents of an index space are a *place*. The launch that was submitted last at a place
    takes the arguments of the next one as they are; only if they do not fit, the types of all are looked at, which
    costs as much as a launch.

    Several threads may submit at once: a launch is taken out of its place as long as a thread uses it. What they
    compile and build is made by one after the other. Nothing that is kept holds an array.

    Attributes:
        observer: called before each launch is submitted, and before it is built: also for a kernel that the device
            cannot run. None, the default, costs nothing; with one, every launch looks at its types.
        build_ns: host time in which drivers have built kernels so far.
        latest: the launch that was submitted last.
        loads: True to load kernels that were built before for a CPU device, in any context, from the driver's binary;
            False by default. Loading takes 2 to 6 ms, and building 50 to 80.
    """

    def __init__(self, observer: LaunchObserver | None = None) -> None:
        self.observer = observer
        self.build_ns = 0
        self.latest: PreparedLaunch | None = None
        self.loads = False
        self._cache = SpirvCache()
        self._built: dict[_Key, DeviceKernel] = {}
        self._to_load: dict[_Key, tuple[DeviceKernel, bytes]] = {}  # the next time, whatever `loads` says
        self._binaries: dict[tuple[Any, ...], tuple[DeviceKernel, bytes]] = {}  # what may be loaded, in any context
        self._places: dict[Any, _Place] = {}
        self._log: deque[Compilation] = deque(maxlen=MOST_KEPT)
        self._used: dict[DeviceKernel, dict[str, Any]] = {}
        self._launched: set[DeviceKernel] = set()
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
        extents = index_space_extents(index_space)
        name = (id(kernel), id(queue), extents)
        place = self._places.get(name)
        if place is None:
            place = _Place(kernel, queue, is_narrow(queue.sycl_device), narrow_switch() == "check")
        launch = place.take(arguments) if self.observer is None else None
        if launch is None:
            with self._making:
                launch = self._prepare(place, index_space, arguments)
                place = keep(self._places, name, self._places.get(name, place))
        if launch.device_kernel not in self._used:
            with self._making:
                keep(self._used, launch.device_kernel, _sizes(launch))
        self._launched.add(launch.device_kernel)
        self.latest = launch
        if submitter is not None:
            event = submitter(launch, depends)
        elif place.is_checked and launch.device_kernel.compiled.bounded:
            event = submit_both(self._in_64_bits(place, index_space, arguments), launch, arguments, depends)
        else:
            event = launch.submit(depends)
        place.give_back(launch)
        return event

    def _in_64_bits(self, place: _Place, index_space: Any, arguments: Sequence[Any]) -> PreparedLaunch:
        with self._making:
            compiled = compile_for(place.kernel, signature_of(place.kernel, index_space, arguments), self._cache)
            return PreparedLaunch(self._built_for(compiled, place.queue), place.queue, index_space, arguments)

    def _prepare(self, place: _Place, index_space: Any, arguments: Sequence[Any]) -> PreparedLaunch:
        """The launch for the types of these arguments, with their values."""
        compiled = compile_for(place.kernel, signature_of(place.kernel, index_space, arguments), self._cache)
        extents, _ = index_space_extents(index_space)
        if place.is_narrow and compiled.narrow and is_within(compiled.limit, extents, arguments):
            compiled = compiled.narrowed
        if self.observer:
            self.observer(compiled, index_space, arguments, place.queue)
        launch = place.take_for(compiled)
        if launch is None:
            return PreparedLaunch(self._built_for(compiled, place.queue), place.queue, index_space, arguments)
        launch.rebind(arguments)
        return launch

    def _built_for(self, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        self._note(compiled, compiled.stages, cached=compiled.cached)
        # the same module may have other options of the driver's compiler
        # one text holds several kernels; a copy of int32 and one of uint32 are the same module, for other arguments
        which = (compiled.name, compiled.signature)
        # a context may have several devices, each with code of its own
        queue = _of_undivided_device(queue)
        key = (compiled.sha256, compiled.options, queue.sycl_device, which, queue.sycl_context)
        if key not in self._built:
            built = load(*self._to_load[key], queue) if key in self._to_load else self._made(key, compiled, queue)
            keep(self._built, key, built)
            self.build_ns += sum(built.stages.values())
            self._note(compiled, built.stages, cached=False)
        return self._built[key]

    def _made(self, key: _Key, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        """A kernel that is built, or loaded where that is wanted and possible."""
        in_any_context = key[:-1]
        if self.loads and in_any_context in self._binaries:
            with suppress(Unsupported, KernelBuildError):
                return load(*self._binaries[in_any_context], queue)
        built = build(compiled, queue)
        # drivers of GPUs keep what they build on disk
        if built.device.is_cpu and in_any_context not in self._binaries:
            with suppress(OSError, AttributeError, OpenCLError):
                keep(self._binaries, in_any_context, (replace(built, kernel=None, context=None), binary_of(built)))
        return built

    def _note(self, compiled: CompiledKernel, stages: dict[str, int], *, cached: bool) -> None:
        self._log.extend(Compilation(compiled.name, stage, ns, cached) for stage, ns in stages.items())

    def take_compilations(self) -> list[Compilation]:
        """The kernels compiled or built since the last call."""
        taken, self._log = self._log, deque(maxlen=MOST_KEPT)
        return [*taken]

    def take_launched(self) -> set[str]:
        """Hashes of the modules whose kernels were launched since the last call."""
        taken, self._launched = self._launched, set()
        return {built.compiled.sha256 for built in taken}

    def take_used(self) -> list[dict[str, Any]]:
        """The kernels launched since the last call, and how each was launched first: part of a case's row."""
        taken, self._used = self._used, {}
        return [
            {
                "name": built.compiled.name,
                "spirv_sha256": built.compiled.sha256,
                "language": built.compiled.language,
                "compiler": built.compiled.compiler or None,
                "narrow": built.compiled.bounded,
                "build_options": " ".join(built.build_options),
                "ignored_options": list(built.ignored_options),
                "fp64_beside_fp32": built.compiled.computes_doubles_of_floats,
                "mixes_fp64_fp32": built.compiled.mixes_doubles_and_floats,
                "sub_group_size": built.sub_group_size,
                "max_sub_group_size": built.max_sub_group_size,
                **sizes,
            }
            for built, sizes in taken.items()
        ]

    def forget(self, queues: Sequence[dpctl.SyclQueue]) -> None:
        """Drop launches and builds that belong to ``queues`` and to contexts of theirs that no other queue uses."""
        dropped = {id(queue) for queue in queues}
        self._places = {name: place for name, place in self._places.items() if id(place.queue) not in dropped}
        contexts = {place.queue.sycl_context for place in self._places.values()}
        self._built = {key: built for key, built in self._built.items() if key[-1] in contexts}
        self._to_load = {key: kept for key, kept in self._to_load.items() if key[-1] in contexts}

    def forget_builds(self, *, keep_binaries: bool = False) -> None:
        """Drop what drivers built, and what was prepared with it.

        Args:
            keep_binaries: kernels are loaded next from the binaries that drivers made of them.
        """
        self.loads = False
        kept = self._to_load if keep_binaries else {}
        if keep_binaries:
            kept |= {key: (built, binary_of(built)) for key, built in self._built.items() if key not in kept}
        self._to_load = kept
        self._places.clear()
        self._built.clear()

    def clear(self) -> None:
        """Drop everything that was built, but for the binaries that `loads` is about."""
        self.latest, self.loads = None, False
        for kept in (self._places, self._built, self._to_load, self._used, self._launched, self._log):
            kept.clear()


def _of_undivided_device(queue: dpctl.SyclQueue) -> dpctl.SyclQueue:
    """A queue on the device whose part this one is on, where the context has it: what is built for it runs on all."""
    whole = queue.sycl_device.parent_device
    if whole is None or whole not in queue.sycl_context.get_devices():
        return queue
    with unrecorded:
        return dpctl.SyclQueue(queue.sycl_context, whole)


def _sizes(launch: PreparedLaunch) -> dict[str, Any]:
    return {
        "global_size": list(launch.global_size),
        "local_size": None if launch.local_size is None else list(launch.local_size),
        "local_bytes": launch.local_bytes,
    }
