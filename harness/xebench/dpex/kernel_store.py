"""Kernels of a session: compiled once for the types of their arguments, built once for each context and device.

Parts of a device share what is built for the whole one, in a context that has it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import dpctl

from xebench.dpex import direct_calls
from xebench.dpex.compiler import compile_for
from xebench.dpex.device_kernel import DeviceKernel, binary_of, build, load
from xebench.dpex.dpex_errors import ArgumentError, KernelBuildError
from xebench.dpex.events import DeviceEvent
from xebench.dpex.kernel_options import KernelOptions
from xebench.dpex.launch import PreparedLaunch
from xebench.dpex.narrow import is_narrow, is_within
from xebench.dpex.signature import ArrayType, CompiledKernel, Signature, index_space_extents, signature_of
from xebench.dpex.spirv_cache import SpirvCache
from xebench.errors import Unsupported
from xebench.system.runtime.opencl_library import OpenCLError
from xebench.system.sycl_types import Event

#: The module, its options, the device and the kernel in it, which a driver's binary is of; and the context.
_Key = tuple[str, KernelOptions, Any, Any, dpctl.SyclContext]

#: Called with the compiled kernel, the index space, the arguments and the queue of a launch.
LaunchObserver = Callable[[CompiledKernel, Any, Sequence[Any], dpctl.SyclQueue], None]


@dataclass(frozen=True)
class Compilation:
    """One stage of making a kernel: typing, translate or build; ``cached`` when the SPIR-V came from disk."""

    kernel: str
    stage: str
    host_ns: int
    cached: bool


class KernelStore:
    """Compiles, builds and submits kernels, and remembers how long each stage took.

    A kernel, a queue and the extents of an index space are a *place*. The launch that was submitted last at a place
    takes the arguments of the next one as they are; only if they do not fit, the types of all are looked at, which
    costs as much as a launch.

    Several threads may submit at once, each to queues of its own: then no two use the same place. What they compile and
    build is made by one after the other.

    Attributes:
        observer: called before each launch is submitted, and before it is built: also for a kernel that the device
            cannot run. None, the default, costs nothing; with one, every launch looks at its types.
        build_ns: host time in which drivers have built kernels so far.
        latest: the launch that was submitted last.
        loads: whether kernels that were built before for a CPU device, in whatever context, are loaded from the
            driver's binary: False by default. Loading takes 2 to 6 ms, and building 50 to 80.
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
        self._launches: dict[Any, PreparedLaunch] = {}
        self._latest: dict[Any, PreparedLaunch] = {}
        self._kernels: dict[int, Any] = {}  # a place has a kernel's id, so the kernel must live as long
        self._log: list[Compilation] = []
        self._used: dict[DeviceKernel, dict[str, Any]] = {}
        self._making = threading.Lock()

    def submit(
        self,
        kernel: Any,
        queue: dpctl.SyclQueue,
        index_space: Any,
        arguments: Sequence[Any],
        depends: Sequence[Event] = (),
    ) -> DeviceEvent:
        """Submit a kernel, compiling and building it first where that has not been done.

        Raises:
            UnsupportedByDevice: the device's limits do not allow this launch.
        """
        place = (id(kernel), id(queue), index_space_extents(index_space))
        launch = self._latest.get(place) if self.observer is None else None
        if launch is None or not _takes(launch, arguments):
            launch = self._prepare(place, kernel, queue, index_space, arguments)
        if launch.device_kernel not in self._used:
            self._used[launch.device_kernel] = _sizes(launch)
        self.latest = launch
        return launch.submit(depends)

    def _prepare(
        self, place: Any, kernel: Any, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]
    ) -> PreparedLaunch:
        """The launch for the types of these arguments, with their values."""
        signature = signature_of(kernel, index_space, arguments)
        compiled = self._compile(kernel, signature)
        may_narrow = bool(compiled.narrow) and is_narrow(queue.sycl_device)
        narrow = may_narrow and is_within(compiled.limit, place[2][0], arguments)
        if narrow:
            compiled = compiled.narrowed
        launch = self._launches.get((place, signature, narrow))
        if self.observer:
            self.observer(compiled, index_space, arguments, queue)
        if launch is None:
            launch = PreparedLaunch(self._build(compiled, queue), queue, index_space, arguments)
            self._launches[place, signature, narrow] = launch
            self._kernels[id(kernel)] = kernel
        else:
            launch.rebind(arguments)
        if _takes_its_own_types_only(launch) and narrow == may_narrow:
            self._latest[place] = launch
        return launch

    def _compile(self, kernel: Any, signature: Signature) -> CompiledKernel:
        with self._making:
            return compile_for(kernel, signature, self._cache)

    def _build(self, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        with self._making:
            return self._built_for(compiled, queue)

    def _built_for(self, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        self._note(compiled, compiled.stages, cached=compiled.cached)
        # the same module may have other options of the driver's compiler
        # one text holds several kernels; a copy of int32 and one of uint32 are the same module, for other arguments
        which = (compiled.name, compiled.signature)
        # a context may have several devices, each with code of its own
        queue = _of_undivided_device(queue)
        key = (compiled.sha256, compiled.options, queue.sycl_device, which, queue.sycl_context)
        if key not in self._built:
            self._built[key] = (
                load(*self._to_load[key], queue) if key in self._to_load else self._made(key, compiled, queue)
            )
            self.build_ns += sum(self._built[key].stages.values())
            self._note(compiled, self._built[key].stages, cached=False)
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
                self._binaries[in_any_context] = replace(built, kernel=None, context=None), binary_of(built)
        return built

    def _note(self, compiled: CompiledKernel, stages: dict[str, int], *, cached: bool) -> None:
        self._log += [Compilation(compiled.name, stage, ns, cached) for stage, ns in stages.items()]

    def take_compilations(self) -> list[Compilation]:
        """The kernels compiled or built since the last call."""
        taken, self._log = self._log, []
        return taken

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
                "sub_group_size": built.sub_group_size,
                "max_sub_group_size": built.max_sub_group_size,
                **sizes,
            }
            for built, sizes in taken.items()
        ]

    def forget(self, queues: Sequence[dpctl.SyclQueue]) -> None:
        """Drop launches and builds that belong to ``queues`` and to contexts of theirs that no other queue uses."""
        dropped = {id(queue) for queue in queues}
        self._launches = {key: launch for key, launch in self._launches.items() if id(launch.queue) not in dropped}
        self._latest = {place: launch for place, launch in self._latest.items() if id(launch.queue) not in dropped}
        contexts = {launch.queue.sycl_context for launch in self._launches.values()}
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
        for dropped in (self._launches, self._latest, self._built):
            dropped.clear()

    def clear(self) -> None:
        """Drop everything that was built, but for the binaries that `loads` is about."""
        self.latest, self.loads = None, False
        for kept in (self._launches, self._latest, self._kernels, self._built, self._to_load, self._used, self._log):
            kept.clear()


def _of_undivided_device(queue: dpctl.SyclQueue) -> dpctl.SyclQueue:
    """A queue on the device whose part this one is on, where the context has it: what is built for it runs on all."""
    whole = queue.sycl_device.parent_device
    if whole is None or whole not in queue.sycl_context.get_devices():
        return queue
    with direct_calls.unrecorded:
        return dpctl.SyclQueue(queue.sycl_context, whole)


def _sizes(launch: PreparedLaunch) -> dict[str, Any]:
    return {
        "global_size": list(launch.global_size),
        "local_size": None if launch.local_size is None else list(launch.local_size),
        "local_bytes": launch.local_bytes,
    }


def _takes(launch: PreparedLaunch, arguments: Sequence[Any]) -> bool:
    """True if a launch took other arguments; False when they are not of its types."""
    try:
        launch.rebind(arguments)
    except ArgumentError:
        return False
    return True


def _takes_its_own_types_only(launch: PreparedLaunch) -> bool:
    """True if arguments that the launch accepts would be compiled to its very kernel.

    Code for strided arrays takes contiguous ones as well, but they would get code of their own.
    """
    types = launch.device_kernel.compiled.signature.arguments
    return all(argument.layout == "C" for argument in types if isinstance(argument, ArrayType))
