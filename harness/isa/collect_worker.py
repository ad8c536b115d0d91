"""What a worker of ``collect`` does: it runs each variant once, and tells which kernels it launches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dpctl
import numpy as np
from numba_dpex import kernel_api

from harness import runtime
from harness.children.parent import Parent
from harness.dpex import SpirvCache, compile_kernel
from harness.dpex.signature import index_space_extents
from harness.errors import named
from harness.isa.collect import Collected, CollectFamily, Launch, Missing, Note, Work
from harness.runner import messages
from harness.runner.messages import Stage
from harness.runner.worker.bound_problem import Binding
from harness.runner.worker.prepare import find_pattern, make_problem
from harness.runner.worker.variant_run import start
from harness.session.device_memory import DeviceMemory
from harness.session.session import Session

NOTHING_LAUNCHED = "launches no kernel through the session"

Request = CollectFamily


def prepare(device: str, parent: Parent) -> Callable[[CollectFamily], None]:
    """A session that is observed; gives the function that collects on it."""
    return _Collector(runtime.select_device(device).device.device, parent).collect


class _AskedDevice(dpctl.SyclDevice):  # type: ignore[misc]
    """Knows whether a variant has asked for its number of compute units, which is not that of a GPU elsewhere."""

    asked = False

    @property
    def max_compute_units(self) -> int:
        self.asked = True
        return int(super().max_compute_units)


class _Collector:
    def __init__(self, device: str, parent: Parent) -> None:
        self._parent = parent
        self._spirv = SpirvCache()
        self._session = Session.on(device, self._note)
        self._session.device = self._device = _AskedDevice(device)
        self._of: dict[str, str] = {}
        self._noted: set[tuple[str, tuple[str, ...]]] = set()

    def collect(self, request: CollectFamily) -> None:
        """Tell the family's least work, its kernels, and why variants have none."""
        self._parent.activity.show(None, Stage.PROBLEM)
        pattern = find_pattern(request.source, request.pattern)
        numbers = {**request.sizes, **request.axes}
        try:
            problem = make_problem(pattern, numbers, 0)
            binding = Binding(problem, numbers, DeviceMemory(self._session.queue))
        except BaseException as error:
            self._tell(missing=[Missing(pattern.name, name, named(error)) for name in request.variants])
            return
        least = messages.Work.of(problem)
        work = Work(pattern.name, request.axes_json, least.bytes_moved, least.operations, least.operation_kind)
        self._tell(work=[work])
        for number, name in enumerate(request.variants):
            self._parent.activity.show(number, Stage.SAMPLE)
            variant = pattern.variants[name]
            self._of = {
                "pattern": pattern.name,
                "family": request.family,
                "variant": name,
                "role": variant.role,
                "axes": request.axes_json,
            }
            self._device.asked = False
            self._noted.clear()
            reason = self._run(variant.function, binding, request.axes)
            if not self._noted:
                self._tell(missing=[Missing(pattern.name, name, reason or NOTHING_LAUNCHED)])
        self._session.release()

    def _run(self, function: Callable[..., Any], binding: Binding, axes: Mapping[str, Any]) -> str:
        """Run a variant as a sample would; why it failed, or ""."""
        try:
            binding.reset()
            self._session.begin()
            start(function, self._session, binding.bound, axes)
            self._session.wait()
        except BaseException as error:
            return named(error)
        return ""

    def _note(self, kernel: Any, index_space: Any, arguments: Sequence[Any]) -> None:
        """Tell of a kernel that is launched for the first time, be it one that this device cannot run."""
        compiled = compile_kernel(kernel, index_space, arguments, cache=self._spirv)
        options, _ = compiled.options.flags("opencl", "Intel(R) Corporation", "gpu")
        global_size, local_size = index_space_extents(index_space)
        launch = Launch(
            **self._of,
            kernel=compiled.name,
            spirv_sha256=compiled.sha256,
            spirv=compiled.spirv,
            build_options=tuple(options),
            global_size=tuple(global_size),
            local_size=None if local_size is None else tuple(local_size),
            local_bytes=sum(map(_local_bytes, arguments)),
            sized_here=self._device.asked,
        )
        if launch.identity not in self._noted:
            self._noted.add(launch.identity)
            self._tell(launches=[launch])

    def _tell(self, **what: Any) -> None:
        self._parent.answers.send(Note(Collected(**what)))


def _local_bytes(argument: Any) -> int:
    if not isinstance(argument, kernel_api.LocalAccessor):
        return 0
    return int(math.prod(argument._shape) * np.dtype(argument._dtype).itemsize)
