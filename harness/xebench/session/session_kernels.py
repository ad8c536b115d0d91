"""Kernels of a session: what was compiled, built and launched, and builds that are forgotten or loaded again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import dpctl
import numpy as np

from numba_sycl.device_kernel import DeviceKernel
from numba_sycl.errors import KernelBuildError, Unsupported
from numba_sycl.kernel_store import MOST_KEPT, KernelStore, Key, Place, keep
from numba_sycl.launch import PreparedLaunch
from numba_sycl.opencl_library import OpenCLError
from numba_sycl.signature import ArrayType, CompiledKernel
from xebench.dpex.binaries import binary_of
from xebench.dpex.loaded_binaries import load
from xebench.dpex.spirv_facts import computes_doubles, shifts_wide_products

#: Called with the kernel, its code, the index space, the arguments and the queue of a launch.
LaunchObserver = Callable[[Any, CompiledKernel, Any, Sequence[Any], dpctl.SyclQueue], None]


@dataclass(frozen=True)
class Compilation:
    """One stage of making a kernel: typing, translate or build; ``cached`` when the SPIR-V came from disk."""

    kernel: str
    stage: str
    host_ns: int
    cached: bool


class SessionKernels(KernelStore):
    """Kernels of one session, and how long each stage of making them took.

    Attributes:
        observer: called before each launch is submitted, and before it is built: also for a kernel that the device
            cannot run. None, the default, costs nothing; with one, every launch looks at its types.
        build_ns: host time in which drivers have built kernels so far.
        latest: the launch that was submitted last.
        loads: True to load kernels that were built before for a CPU device, in any context, from the driver's binary;
            False by default. Loading takes 2 to 6 ms, and building 50 to 80.
    """

    def __init__(self, observer: LaunchObserver | None = None) -> None:
        super().__init__()
        self.observer = observer
        self.build_ns = 0
        self.latest: PreparedLaunch | None = None
        self.loads = False
        self._to_load: dict[Key, tuple[DeviceKernel, bytes]] = {}  # the next time, whatever `loads` says
        self._binaries: dict[tuple[Any, ...], tuple[DeviceKernel, bytes]] = {}  # what may be loaded, in any context
        self._log: deque[Compilation] = deque(maxlen=MOST_KEPT)
        self._used: dict[DeviceKernel, dict[str, Any]] = {}
        self._launched: set[DeviceKernel] = set()

    def _taken(
        self, place: Place, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]
    ) -> PreparedLaunch | None:
        return super()._taken(place, queue, index_space, arguments) if self.observer is None else None

    def _compiled(
        self, place: Place, queue: dpctl.SyclQueue, index_space: Any, arguments: Sequence[Any]
    ) -> CompiledKernel:
        compiled = super()._compiled(place, queue, index_space, arguments)
        if self.observer:
            self.observer(place.kernel, compiled, index_space, arguments, queue)
        return compiled

    def _starts(self, launch: PreparedLaunch) -> None:
        if launch.device_kernel not in self._used:
            with self._making:
                keep(self._used, launch.device_kernel, _sizes(launch))
        self._launched.add(launch.device_kernel)
        self.latest = launch

    def _built_for(self, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        self._note(compiled, compiled.stages, cached=compiled.cached)
        return super()._built_for(compiled, queue)

    def _made(self, key: Key, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        built = (
            load(*self._to_load[key], queue) if key in self._to_load else self._loaded_or_built(key, compiled, queue)
        )
        self.build_ns += sum(built.stages.values())
        self._note(compiled, built.stages, cached=False)
        return built

    def _loaded_or_built(self, key: Key, compiled: CompiledKernel, queue: dpctl.SyclQueue) -> DeviceKernel:
        in_any_context = key[:-1]
        if self.loads and in_any_context in self._binaries:
            with suppress(Unsupported, KernelBuildError):
                return load(*self._binaries[in_any_context], queue)
        built = super()._made(key, compiled, queue)
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
        return [_about(built) | sizes for built, sizes in taken.items()]

    def forget_other_contexts(self, queues: Collection[dpctl.SyclQueue]) -> None:
        """Drop launches and builds of contexts that none of ``queues`` has."""
        contexts = {queue.sycl_context for queue in queues}
        for name in [name for name in self._places if name[0] not in contexts]:
            del self._places[name]
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


def _about(built: DeviceKernel) -> dict[str, Any]:
    compiled = built.compiled
    arrays = [each.dtype for each in compiled.signature.arguments if isinstance(each, ArrayType)]
    reals = {dtype for dtype in arrays if np.dtype(dtype).kind == "f"}
    return {
        "name": compiled.name,
        "spirv_sha256": compiled.sha256,
        "language": compiled.language,
        "compiler": compiled.compiler or None,
        "narrow": compiled.bounded,
        "build_options": " ".join(built.build_options),
        "ignored_options": list(built.ignored_options),
        "fp64_beside_fp32": reals == {"float32"} and computes_doubles(compiled.spirv),
        "shifts_wide_products": compiled.language == "spirv" and shifts_wide_products(compiled.spirv),
        "mixes_fp64_fp32": reals >= {"float32", "float64"},
        "sub_group_size": built.sub_group_size,
        "max_sub_group_size": built.max_sub_group_size,
    }


def _sizes(launch: PreparedLaunch) -> dict[str, Any]:
    return {
        "global_size": list(launch.global_size),
        "local_size": None if launch.local_size is None else list(launch.local_size),
        "local_bytes": launch.local_bytes,
    }
