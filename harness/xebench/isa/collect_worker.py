"""A worker of ``collect``: it runs each variant once, and reports the kernels that it launches."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dpctl
import numpy as np

from numba_sycl import kernel_api
from numba_sycl.narrow import is_within, narrow_switch
from numba_sycl.signature import CompiledKernel, index_space_extents
from xebench.dpex import direct_calls
from xebench.errors import describe_error
from xebench.isa.asked_gpu import AskedGpu
from xebench.isa.collect import Collected, CollectFamily, KernelLaunch, VariantWithoutKernel
from xebench.measuring.bound_problem import Binding
from xebench.measuring.messages import Call, Returned, Stage, pickled
from xebench.measuring.place import start
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.patterns.registry import portable_text
from xebench.session.device_memory import DeviceMemory
from xebench.session.session import Session
from xebench.session.session_kernels import SessionKernels
from xebench.system import runtime
from xebench.system.children.worker import Parent

NOTHING_LAUNCHED = "launches no kernel through the session"

Request = Call


def prepare(device: str, parent: Parent) -> Callable[[Call], None]:
    """Open an observed session, and return the function that collects on it."""
    collector = _Collector(runtime.select_device(device).device.device, parent)
    return lambda call: collector.collect(*pickle.loads(call.arguments.data))


class _DeviceAsGpu(dpctl.SyclDevice):  # type: ignore[misc]
    """The device here, with the limits of the GPU that is asked for."""

    gpu: AskedGpu

    @property
    def max_compute_units(self) -> int:
        return self.gpu.max_compute_units

    @property
    def sub_group_sizes(self) -> list[int]:
        return list(self.gpu.sub_group_sizes)

    @property
    def max_work_group_size(self) -> int:
        return self.gpu.max_work_group_size

    @property
    def local_mem_size(self) -> int:
        return self.gpu.local_mem_size


class _SessionAsGpu(Session):
    """A session that tells a variant the facts of the GPU that is asked for; its kernels run on the device here."""

    device: _DeviceAsGpu

    @property
    def lanes(self) -> int:
        return self.device.gpu.lanes

    @property
    def cores(self) -> int:
        return self.device.gpu.cores

    def core_threads(self, sub_group_size: int) -> int:
        return self.device.gpu.threads_per_core


class _Collector:
    def __init__(self, device: str, parent: Parent) -> None:
        self._parent = parent
        queue = dpctl.SyclQueue(device, property=["in_order", "enable_profiling"])
        self._session = _SessionAsGpu(queue, SessionKernels(observer=self._note))
        self._session.device = _DeviceAsGpu(device)
        direct_calls.install()
        self._of: dict[str, Any] = {}
        self._noted: set[tuple[str, str, tuple[str, ...]]] = set()

    def collect(self, request: CollectFamily) -> None:
        """Report the family's kernels, and why variants have none."""
        self._parent.activity.show(None, Stage.PROBLEM)
        self._session.device.gpu = request.gpu
        pattern = find_pattern(request.source, request.pattern)
        try:
            problem = make_problem(pattern, request.parameters, 0)
            binding = Binding(problem, request.parameters, DeviceMemory(self._session.queue))
        except BaseException as error:
            self._tell(
                missing=[VariantWithoutKernel(pattern.name, name, describe_error(error)) for name in request.variants]
            )
            return
        for number, name in enumerate(request.variants):
            self._parent.activity.show(number, Stage.SAMPLE)
            variant = pattern.variants[name]
            self._of = {
                "pattern": pattern.name,
                "chapter": request.chapter,
                "variant": name,
                "role": variant.role,
                "axes": request.axes_json,
                "requires": (*pattern.requires, *variant.requires),
            }
            self._noted.clear()
            reason = self._run(variant.function, binding, request.parameters)
            if not self._noted:
                self._tell(missing=[VariantWithoutKernel(pattern.name, name, reason or NOTHING_LAUNCHED)])
        self._session.release()

    def _run(self, function: Callable[..., Any], binding: Binding, parameters: Mapping[str, Any]) -> str:
        """Run a variant as a sample would; return why it failed, or ""."""
        try:
            binding.reset()
            self._session.begin()
            sample = start(function, self._session, binding.bound, parameters)
            self._session.wait()
            del sample  # not before: a library may be at work on arrays that it alone keeps
        except BaseException as error:
            return portable_text(describe_error(error))
        return ""

    def _note(
        self, kernel: Any, compiled: CompiledKernel, index_space: Any, arguments: Sequence[Any], queue: dpctl.SyclQueue
    ) -> None:
        """Report a kernel that is launched for the first time, even one that this device cannot run."""
        options, _ = compiled.options.flags("opencl", "Intel(R) Corporation", "gpu")
        global_size, local_size = index_space_extents(index_space)
        if narrow_switch() != "off" and is_within(compiled.limit, global_size, arguments):
            compiled = compiled.narrowed  # as on a GPU
        launch = KernelLaunch(
            **self._of,
            kernel=compiled.name,
            spirv_sha256=compiled.sha256,
            spirv=compiled.code,
            language=compiled.language,
            build_options=tuple(options),
            global_size=tuple(global_size),
            local_size=None if local_size is None else tuple(local_size),
            local_bytes=sum(map(_local_bytes, arguments)),
        )
        if launch.identity not in self._noted:
            self._noted.add(launch.identity)
            self._tell(launches=[launch])

    def _tell(self, **what: Any) -> None:
        self._parent.answers.send(Returned(pickled(Collected(**what))))


def _local_bytes(argument: Any) -> int:
    if not isinstance(argument, kernel_api.LocalAccessor):
        return 0
    return int(math.prod(argument._shape) * np.dtype(argument._dtype).itemsize)
