"""The cases of a plan projected onto a GPU that is not there: the occupancy of their launches, and the roofs' times.

Launches have the code of the offline compiler. The shortest time that a GPU's roofs allow a case is a model from
parameters, never a measurement:

    memory    least bytes of the problem / bandwidth of the memory
    L3        the same bytes / bandwidth of the last cache, in place of memory where all data fit into it
    SLM       least bytes through shared local memory / its bandwidth
    compute   least operations / (rate of all vector engines x the part of them that can hold a thread)
    bound     the longest of these

That is the roofline of Williams, Waterman and Patterson (2009), with the occupancy of the launch: vector engines that
no thread can be on do not compute (`engines_share`). Nothing else is modelled. Latency, launch costs and a clock below
the product's make a real kernel slower; docs/projection.md shows by how much for rates of the guide. Data that are in a
cache of unknown bandwidth already, and kernels that run side by side, can make it faster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import prod
from typing import Any, Final

import msgspec

from xebench.isa.collect import KernelLaunch, LeastWork
from xebench.isa.compilation import CompileCache, Compiler
from xebench.isa.kernel_code import KernelOnGpu
from xebench.isa.table import compile_launches, targets
from xebench.patterns.declaration import VariantInfo
from xebench.patterns.plan import Family
from xebench.system.gpus import GpuParameters, find_gpu
from xebench.system.occupancy import (
    DRIVERS_WORK_GROUP,
    LaunchShape,
    Occupancy,
    UnsupportedLaunch,
    drivers_work_group,
    occupancy_of,
)


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
        gpu: compiled for its `GpuParameters.ocloc_name`; its other parameters give the occupancy.
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


MEMORY: Final = "memory"
L3: Final = "L3"
SLM: Final = "SLM"
COMPUTE: Final = "compute"


@dataclass(frozen=True)
class RoofBound:
    """The times that the roofs of a GPU allow.

    Attributes:
        memory_ns: of the least bytes; None when the problem states none, or the GPU's bandwidth is not known, or where
            l3_ns stands for it.
        compute_ns: of the least operations; None when the problem states none, or the GPU's rate is not known.
        l3_ns: of the least bytes from the last cache, where all data fit into it.
        slm_ns: of the least bytes through shared local memory.
    """

    memory_ns: float | None
    compute_ns: float | None
    l3_ns: float | None = None
    slm_ns: float | None = None

    @property
    def by_roof(self) -> dict[str, float]:
        """The known times, by their roof."""
        times = {MEMORY: self.memory_ns, L3: self.l3_ns, SLM: self.slm_ns, COMPUTE: self.compute_ns}
        return {roof: time for roof, time in times.items() if time is not None}

    @property
    def time_ns(self) -> float | None:
        """The longest time; None if none is known."""
        return max(self.by_roof.values(), default=None)

    @property
    def bound_by(self) -> str | None:
        """The roof that is nearest: memory, L3, SLM or compute."""
        return max(self.by_roof, key=self.by_roof.__getitem__, default=None)


def bound(
    gpu: GpuParameters,
    bytes_moved: int | None,
    operations: int | None,
    operation_kind: str = "fp32",
    share: float = 1.0,
    *,
    slm_bytes: int | None = None,
    working_set_bytes: int | None = None,
) -> RoofBound:
    """The bound of a problem on a GPU.

    Args:
        gpu: its parameters; the clock and bandwidth of its product.
        bytes_moved: the least bytes through the memory; None if unknown.
        operations: the least operations; None if unknown.
        operation_kind: fp32, fp64 or int32.
        share: part of the vector engines that the launch can use (`engines_share`).
        slm_bytes: the least bytes through shared local memory; None if unknown.
        working_set_bytes: all arrays of the problem; None if unknown: then they count as too large for a cache.
    """
    rate, l3_gbps, l3_bytes = gpu.peak_gops(operation_kind), gpu.peak_l3_gbps, gpu.product.l3_bytes
    cached = None not in (l3_gbps, l3_bytes, working_set_bytes) and (working_set_bytes or 0) <= (l3_bytes or 0)
    return RoofBound(
        None if cached else _over(bytes_moved, gpu.peak_memory_gbps),
        _over(operations, None if rate is None else rate * share),
        _over(bytes_moved, l3_gbps) if cached else None,
        _over(slm_bytes, gpu.peak_slm_gbps),
    )


def _over(amount: int | None, rate: float | None) -> float | None:
    return None if amount is None or rate is None else amount / rate


def engines_share(launches: Sequence[Occupancy]) -> float:
    """The part of the vector engines that can hold a thread, of the launch that can use most; 1 if none is known."""
    return max(map(_share, launches), default=1.0)


def _share(launch: Occupancy) -> float:
    gpu, groups = launch.gpu, launch.launch.work_groups
    threads = launch.threads_per_work_group
    in_core = min(gpu.eus_per_xe_core, threads * min(launch.work_groups_by_limit.values()))
    engines = gpu.xe_cores * in_core
    if groups is not None:
        engines = min(groups * threads, min(gpu.xe_cores, groups) * in_core)
    return engines / gpu.eu_count


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


class GuideFigure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rate that the guide measured on a GPU with known parameters.

    Attributes:
        id: of the catalogue.
        what: the case.
        gpu: parameters of the GPU, as `find_gpu` returns them.
        roof: memory, or the kind of operation.
        rate: measured, in GB/s or Gop/s.
        source: section, and how the rate was derived where it is not printed.
        beside: what the model leaves out, where that explains the distance.
    """

    id: str
    what: str
    gpu: str
    roof: str
    rate: float
    source: str
    beside: str = ""

    @property
    def roof_rate(self) -> float | None:
        """The model's roof, in the same unit."""
        gpu = find_gpu(self.gpu)
        return gpu.peak_memory_gbps if self.roof == MEMORY else gpu.peak_gops(self.roof)

    @property
    def fraction(self) -> float | None:
        """Bound over measured time: 1 where the model is exact, above 1 where it is wrong."""
        return None if self.roof_rate is None else self.rate / self.roof_rate


@cache
def guide_figures() -> tuple[GuideFigure, ...]:
    """The figures of the guide that the model is held against (``data/guide_rates.json``)."""
    rates = json.loads(resources.files(__package__).joinpath("data/guide_rates.json").read_bytes())
    return msgspec.convert(rates["figures"], tuple[GuideFigure, ...])
