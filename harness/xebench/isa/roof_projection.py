"""Kernels of a plan on a GPU that is not there: occupancy and roofs, by the offline compiler and a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from xebench.isa.collect import KernelLaunch, LeastWork
from xebench.isa.compilation import CompileCache, Compiler
from xebench.isa.kernel_code import KernelOnGpu
from xebench.isa.table import compile_launches, targets
from xebench.patterns.declaration import VariantInfo
from xebench.patterns.plan import Family
from xebench.system.gpu_model.gpus import GpuParameters
from xebench.system.gpu_model.occupancy import (
    DRIVERS_WORK_GROUP,
    LaunchShape,
    Occupancy,
    UnsupportedLaunch,
    drivers_work_group,
    occupancy_of,
)
from xebench.system.gpu_model.roof_model import RoofBound, bound, engines_share


@dataclass(frozen=True)
class KernelOccupancy:
    """The occupancy of one launch.

    Attributes:
        launch: of the variant.
        occupancy: None when the kernel was not compiled, or the GPU cannot run the launch.
        reason: why.
        assumed: what was assumed about the launch, "" if nothing.
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
        launches: of `xebench.isa.collect`.
        gpu: compiled for what `GpuParameters.ocloc_name` says, at its other parameters.
        compiler: an ocloc.
        cache: of compilations.
        begins: called with the number of compilations, and the GPU of each that is begun, from several threads.
    """
    kernels = compile_launches(launches, targets([gpu]), compiler, cache, begins=begins)
    compiled = {(kernel.launch.identity, kernel.launch.kernel): kernel for kernel in kernels}
    return [_occupancy_of_launch(launch, compiled[launch.identity, launch.kernel], gpu) for launch in launches]


def _occupancy_of_launch(launch: KernelLaunch, kernel: KernelOnGpu, gpu: GpuParameters) -> KernelOccupancy:
    if kernel.code is None:
        return KernelOccupancy(launch, None, f"{kernel.status}: {kernel.reason}")
    info = kernel.code.info
    work_group, of_work_group = _work_group(launch, gpu)
    of_size = "the launch is sized by the compute units of the device here" if launch.sized_here else ""
    assumed = "; ".join(filter(None, (of_work_group, of_size)))
    large_grf = info.grf_count > gpu.registers_per_thread
    slm_bytes, size = info.slm_bytes + launch.local_bytes, prod(launch.global_size)
    shape = LaunchShape(work_group, kernel.code.simd_width, slm_bytes, info.barriers, size, large_grf)
    try:
        return KernelOccupancy(launch, occupancy_of(shape, gpu), assumed=assumed)
    except UnsupportedLaunch as error:
        return KernelOccupancy(launch, None, str(error), assumed)


def _work_group(launch: KernelLaunch, gpu: GpuParameters) -> tuple[int, str]:
    """The size of a work-group, and how it was assumed where the driver chooses."""
    if launch.local_size is not None:
        return prod(launch.local_size), ""
    size = drivers_work_group(prod(launch.global_size), gpu)
    return size, f"the launch leaves the work-group to the driver: up to {DRIVERS_WORK_GROUP} work-items are assumed"


@dataclass(frozen=True)
class Projection:
    """The projection of one case: the times that the roofs of a GPU allow.

    Attributes:
        family, variant: the case.
        work: the least work of its problem; None when the problem could not be built here.
        share: part of the vector engines that its launches can use.
        occupancy: of the launch that fills the device most; None when no launch is known.
        bound: the model's.
        reason: what is missing, "" if nothing.
        assumed: what was assumed about its launches, "" if nothing.
    """

    family: Family
    variant: VariantInfo
    work: LeastWork | None
    share: float
    occupancy: Occupancy | None
    bound: RoofBound
    reason: str
    assumed: str = ""

    def to_json(self) -> dict[str, Any]:
        """One object of ``xebench project --json``; times in nanoseconds."""
        work, occupancy = self.work, self.occupancy
        return {
            "model": "roof",
            "pattern": self.family.pattern.name,
            "variant": self.variant.name,
            "role": self.variant.role,
            "preset": self.family.preset,
            "axes": json.loads(self.family.axes_json()),
            "bytes_moved": work and work.bytes_moved,
            "operations": work and work.operations,
            "operation_kind": work and work.operation_kind,
            "slm_bytes": work and work.slm_bytes,
            "working_set_bytes": work and work.working_set_bytes,
            "device_occupancy": occupancy and occupancy.device_occupancy,
            "occupancy_is_upper_bound": occupancy and occupancy.is_upper_bound,
            "engines_share": self.share,
            "bound_memory_ns": self.bound.memory_ns,
            "bound_l3_ns": self.bound.l3_ns,
            "bound_slm_ns": self.bound.slm_ns,
            "bound_compute_ns": self.bound.compute_ns,
            "bound_ns": self.bound.time_ns,
            "bound_by": self.bound.bound_by,
            "reason": self.reason or None,
            "assumed": self.assumed or None,
        }


def project(
    plan: Sequence[Family], work: Iterable[LeastWork], kernels: Sequence[KernelOccupancy], gpu: GpuParameters
) -> Iterator[Projection]:
    """Every case of a plan.

    Args:
        plan: the families.
        work: the least work of each, from `xebench.isa.collect`.
        kernels: occupancies of their launches; those that are missing count as full.
        gpu: whose roofs.
    """
    stated = {(least.pattern, least.axes): least for least in work}
    by_case: dict[tuple[str, str, str], list[KernelOccupancy]] = {}
    for kernel in kernels:
        by_case.setdefault((kernel.launch.pattern, kernel.launch.variant, kernel.launch.axes), []).append(kernel)
    for family in plan:
        least = stated.get((family.pattern.name, family.axes_json()))
        for variant in family.pattern.variants:
            launches = by_case.get((family.pattern.name, variant.name, family.axes_json()), [])
            occupied = [launch.occupancy for launch in launches if launch.occupancy is not None]
            share = engines_share(occupied)
            fullest = max(occupied, key=lambda occupancy: occupancy.device_occupancy, default=None)
            roofs = RoofBound(None, None)
            if least is not None:
                roofs = bound(
                    *(gpu, least.bytes_moved, least.operations, least.operation_kind, share),
                    slm_bytes=least.slm_bytes,
                    working_set_bytes=least.working_set_bytes,
                )
            assumed = dict.fromkeys(launch.assumed for launch in launches if launch.assumed)
            missing = _missing(least, launches)
            yield Projection(family, variant, least, share, fullest, roofs, missing, "; ".join(assumed))


def _missing(work: LeastWork | None, launches: Sequence[KernelOccupancy]) -> str:
    if work is None:
        return "its problem could not be built here"
    if work.bytes_moved is None and work.operations is None and work.slm_bytes is None:
        return "the pattern states no least work"
    return next((launch.reason for launch in launches if launch.reason), "")
