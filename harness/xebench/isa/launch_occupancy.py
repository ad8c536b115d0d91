"""The occupancy of patterns' own launches on a GPU that need not be present, by the code of the offline compiler."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from xebench.isa.collect import KernelLaunch
from xebench.isa.compilation import CompileCache, Compiler
from xebench.isa.kernel_code import KernelOnGpu
from xebench.isa.table import compile_launches, targets
from xebench.system.gpus import GpuParameters
from xebench.system.occupancy import (
    DRIVERS_WORK_GROUP,
    LaunchShape,
    Occupancy,
    UnsupportedLaunch,
    drivers_work_group,
    occupancy_of,
)

#: Assumption of the model where a kernel has neither a barrier nor SLM.
WHOLE_GROUPS: Final = "whole work-groups are counted; without a barrier one may start in part on the threads left over"


@dataclass(frozen=True)
class KernelOccupancy:
    """The occupancy of one launch.

    Attributes:
        launch: launch of the variant.
        occupancy: None when the kernel was not compiled, or the GPU cannot run the launch.
        reason: reason why there is no occupancy; "" otherwise.
        assumed: assumptions about the launch; "" for none.
    """

    launch: KernelLaunch
    occupancy: Occupancy | None
    reason: str = ""
    assumed: str = ""

    def to_json(self) -> dict[str, Any]:
        """The figures of ``xebench occupancy --json`` after what they are of."""
        launch = self.launch
        shape: dict[str, Any] = {}
        if self.occupancy is not None:
            asked = self.occupancy.launch
            shape = {
                "work_group": asked.work_group_size,
                "sub_group": asked.sub_group_size,
                "slm_bytes": asked.slm_bytes,
                "barriers": asked.barriers,
                "global": asked.global_size,
                "large_grf": asked.large_grf,
                **self.occupancy.to_json(),
            }
        return {
            "pattern": launch.pattern,
            "variant": launch.variant,
            "axes": json.loads(launch.axes),
            "kernel": launch.kernel,
            "reason": self.reason or None,
            "assumed": self.assumed or None,
            **shape,
        }


def occupancies(
    launches: Sequence[KernelLaunch],
    gpu: GpuParameters,
    compiler: Compiler,
    cache: CompileCache | None = None,
    begins: Callable[[int, str], None] = lambda total, name: None,
) -> list[KernelOccupancy]:
    """The occupancy of every launch, in their order.

    Args:
        launches: launches from `xebench.isa.collect`.
        gpu: GPU to compile for, by its `GpuParameters.ocloc_name`; its other parameters give the occupancy.
        compiler: an ocloc.
        cache: cache of compilations.
        begins: callback with the number of compilations and the GPU of the next one; several threads call it.
    """
    kernels = compile_launches(launches, targets([gpu]), compiler, cache, begins=begins)
    compiled = {(kernel.launch.identity, kernel.launch.kernel): kernel for kernel in kernels}
    return [_occupancy_of_launch(launch, compiled[launch.identity, launch.kernel], gpu) for launch in launches]


def _occupancy_of_launch(launch: KernelLaunch, kernel: KernelOnGpu, gpu: GpuParameters) -> KernelOccupancy:
    if kernel.code is None:
        return KernelOccupancy(launch, None, f"{kernel.status}: {kernel.reason}")
    info = kernel.code.info
    work_group, assumed = _work_group(launch, gpu)
    large_grf = info.grf_count > gpu.registers_per_thread
    slm_bytes, size = info.slm_bytes + launch.local_bytes, prod(launch.global_size)
    shape = LaunchShape(work_group, kernel.code.simd_width, slm_bytes, info.barriers, size, large_grf)
    try:
        occupancy = occupancy_of(shape, gpu)
    except UnsupportedLaunch as error:
        return KernelOccupancy(launch, None, str(error), assumed)
    if _could_start_in_parts(occupancy):
        assumed = "; ".join(filter(None, (assumed, WHOLE_GROUPS)))
    return KernelOccupancy(launch, occupancy, assumed=assumed)


def _could_start_in_parts(occupancy: Occupancy) -> bool:
    """True if a further work-group, which nothing holds together, could start on threads that are left over.

    The guide shows that of work-groups without a barrier (VectorAdd3 in A Detailed Example).
    """
    launch = occupancy.launch
    is_free = not launch.barriers and not launch.slm_bytes
    return is_free and occupancy.limited_by == "threads" and occupancy.xe_core_occupancy < 1


def _work_group(launch: KernelLaunch, gpu: GpuParameters) -> tuple[int, str]:
    """The size of a work-group, and how it was assumed where the driver chooses."""
    if launch.local_size is not None:
        return prod(launch.local_size), ""
    size = drivers_work_group(prod(launch.global_size), gpu)
    return size, f"the launch leaves the work-group to the driver: up to {DRIVERS_WORK_GROUP} work-items are assumed"
