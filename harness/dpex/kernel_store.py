"""Kernels of a session: compiled once per argument types, built once per context, launched prepared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dpctl

from harness.dpex import (
    ArgumentError,
    CompiledKernel,
    DeviceEvent,
    DeviceKernel,
    PreparedLaunch,
    SpirvCache,
    UnsupportedByDevice,
    build,
    compile_kernel,
)
from harness.dpex.signature import ArrayType, index_space_extents, signature_of
from harness.errors import Unsupported


@dataclass(frozen=True)
class Compilation:
    """One stage of making a kernel: typing, translate or build; ``cached`` when the SPIR-V came from disk."""

    kernel: str
    stage: str
    host_ns: int
    cached: bool


@dataclass(frozen=True)
class _Ready:
    """A prepared launch; the kernel and the queue are kept because the store finds them by identity."""

    kernel: Any
    queue: dpctl.SyclQueue
    launch: PreparedLaunch

    @property
    def decides_alone(self) -> bool:
        """Whether arguments that this launch accepts would be compiled to this very kernel.

        Code for strided arrays takes contiguous ones as well, but they would get code of their own.
        """
        types = self.launch.device_kernel.compiled.signature.arguments
        return all(one.layout == "C" for one in types if isinstance(one, ArrayType))


class KernelStore:
    """Compiles, builds and submits kernels, and remembers how long each stage took."""

    def __init__(self) -> None:
        self._cache = SpirvCache()
        self._built: dict[tuple[str, dpctl.SyclContext], DeviceKernel] = {}
        self._ready: dict[Any, _Ready] = {}
        self._latest: dict[Any, _Ready] = {}
        self._log: list[Compilation] = []
        self._used: dict[str, DeviceKernel] = {}

    def submit(
        self,
        kernel: Any,
        queue: dpctl.SyclQueue,
        index_space: Any,
        arguments: Sequence[Any],
        depends: Sequence[Any],
    ) -> DeviceEvent:
        """Submit a kernel, compiling and building it first where that has not been done.

        Raises:
            Unsupported: the device's limits do not allow this launch.
        """
        place = (id(kernel), id(queue), index_space_extents(index_space))
        try:
            ready = self._latest.get(place)
            if ready is None or not _rebound(ready, arguments):
                ready = self._find(place, kernel, queue, index_space, arguments)
        except UnsupportedByDevice as error:
            raise Unsupported(str(error)) from error
        launch = ready.launch
        self._used[launch.device_kernel.compiled.sha256] = launch.device_kernel
        return launch.submit(depends)

    def _find(
        self, place: Any, kernel: Any, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]
    ) -> _Ready:
        """The launch for the types of these arguments; to look at every type costs as much as a launch."""
        key = (*place, signature_of(kernel, index_space, arguments))
        ready = self._ready.get(key)
        if ready is None:
            built = self._build(kernel, queue, index_space, arguments)
            ready = self._ready[key] = _Ready(kernel, queue, PreparedLaunch(built, queue, index_space, arguments))
        else:
            ready.launch.rebind(arguments)
        if ready.decides_alone:
            self._latest[place] = ready
        return ready

    def _build(self, kernel: Any, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]) -> DeviceKernel:
        compiled = compile_kernel(kernel, index_space, arguments, cache=self._cache)
        self._note(compiled, compiled.stages, cached=compiled.cached)
        key = (compiled.sha256, queue.sycl_context)
        if key not in self._built:
            self._built[key] = build(compiled, queue)
            self._note(compiled, self._built[key].stages, cached=False)
        return self._built[key]

    def _note(self, compiled: CompiledKernel, stages: dict[str, int], *, cached: bool) -> None:
        self._log += [Compilation(compiled.name, stage, ns, cached) for stage, ns in stages.items()]

    def take_compilations(self) -> list[Compilation]:
        """What was compiled or built since the last call."""
        taken, self._log = self._log, []
        return taken

    def take_used(self) -> list[dict[str, Any]]:
        """Identity of the kernels launched for the first time since the last call: part of a case's row."""
        taken, self._used = self._used, {}
        return [
            {
                "name": built.compiled.name,
                "spirv_sha256": digest,
                "build_options": " ".join(built.build_options),
                "ignored_options": list(built.ignored_options),
                "sub_group_size": built.sub_group_size,
            }
            for digest, built in taken.items()
        ]

    def forget(self, queues: Sequence[dpctl.SyclQueue]) -> None:
        """Drop launches and builds that belong to ``queues`` and to contexts of theirs that no other queue uses."""
        dropped = {id(queue) for queue in queues}
        self._ready = {key: ready for key, ready in self._ready.items() if id(ready.queue) not in dropped}
        self._latest = {place: ready for place, ready in self._latest.items() if id(ready.queue) not in dropped}
        contexts = {ready.queue.sycl_context for ready in self._ready.values()}
        self._built = {key: built for key, built in self._built.items() if key[1] in contexts}

    def clear(self) -> None:
        """Drop everything that was built."""
        self._ready.clear()
        self._latest.clear()
        self._built.clear()
        self._used.clear()
        self._log.clear()


def _rebound(ready: _Ready, arguments: Sequence[Any]) -> bool:
    """Whether a launch took other arguments; False when they are not of its types."""
    try:
        ready.launch.rebind(arguments)
    except ArgumentError:
        return False
    return True
