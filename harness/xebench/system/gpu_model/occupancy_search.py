"""The limit of a launch's occupancy, a fuller launch near it, and occupancy over many launches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import log2

from xebench.system.gpu_model.gpu_parameters import GpuParameters
from xebench.system.gpu_model.occupancy import LaunchShape, Occupancy, UnsupportedLaunch, occupancy_of

# sums of fractions differ in their last bits; contexts are counted in hundreds
_SAME = 1e-9


def nearest_better(current: Occupancy, *, best: bool = False) -> Occupancy | None:
    """The fuller launch with the smallest change: of work-group size, sub-group size, or SLM; never of two.

    The other arguments stay as they are, also the SLM of a work-group when its size changes. Work-group sizes
    are multiples of the sub-group size that divide the global size. A change counts by its factor: 256 to 128
    is as far as 16 to 32. Only when nothing else helps a launch with large GRF, the small mode is looked at.

    Args:
        current: the launch to better, measured by its device occupancy.
        best: the nearest of the fullest launches, rather than the nearest that is fuller at all.

    Returns:
        The better launch's occupancy, or None if no single change makes it fuller.
    """
    fuller = list(_fuller(current, _one_change_away(current)))
    if not fuller and current.launch.large_grf:
        fuller = list(_fuller(current, [(0.0, replace(current.launch, large_grf=False))]))
    if best and fuller:
        most = max(better.device_occupancy for _, better in fuller)
        fuller = [(change, better) for change, better in fuller if better.device_occupancy > most - _SAME]
    # of equal changes the fuller one, then the easier: a work-group size before sub-group size and SLM
    nearest = min(fuller, key=lambda step: (round(step[0], 9), -round(step[1].device_occupancy, 9)), default=None)
    return nearest and nearest[1]


def _fuller(current: Occupancy, launches: Iterable[tuple[float, LaunchShape]]) -> Iterator[tuple[float, Occupancy]]:
    """Those of the launches that the GPU can run and that fill it more, each with the size of its change."""
    for change, launch in launches:
        try:
            occupancy = occupancy_of(launch, current.gpu)
        except UnsupportedLaunch:
            continue
        if occupancy.device_occupancy > current.device_occupancy + _SAME:
            yield change, occupancy


def _one_change_away(current: Occupancy) -> Iterator[tuple[float, LaunchShape]]:
    """All launches that differ in one argument, each with the size of the change in powers of two."""
    gpu, launch = current.gpu, current.launch
    for size in range(launch.sub_group_size, gpu.max_work_group_size + 1, launch.sub_group_size):
        yield abs(log2(size / launch.work_group_size)), replace(launch, work_group_size=size)
    for size in gpu.sub_group_sizes:
        yield abs(log2(size / launch.sub_group_size)), replace(launch, sub_group_size=size)
    for size in gpu.slm_sizes_bytes:
        if size < launch.slm_bytes:
            yield log2(launch.slm_bytes / size), replace(launch, slm_bytes=size)


def difference(before: LaunchShape, after: LaunchShape) -> str:
    """The change between two launches: ``work-group size 512 -> 448``."""
    names = {
        "work_group_size": "work-group size",
        "sub_group_size": "sub-group size",
        "slm_bytes": "SLM bytes",
        "large_grf": "large GRF",
    }
    changes = ((name, getattr(before, field), getattr(after, field)) for field, name in names.items())
    return ", ".join(f"{name} {old} -> {new}" for name, old, new in changes if old != new)


def explain(occupancy: Occupancy) -> str:
    """One sentence on what limits the launch."""
    gpu, launch, contexts = occupancy.gpu, occupancy.launch, occupancy.gpu.threads_per_xe_core
    groups, threads = occupancy.work_groups_per_xe_core, occupancy.threads_per_work_group
    resident = f"{groups} work-group{'' if groups == 1 else 's'} of {threads} threads"
    idle = contexts - groups * threads
    wave = min(occupancy.work_groups_by_limit.values()) * gpu.xe_cores
    slm_bytes = gpu.allocated_slm_bytes(launch.slm_bytes)
    reasons = {
        "threads": f"{resident} leave {idle} of {contexts} contexts idle"
        if idle
        else f"{resident} take all contexts of an Xe-core",
        "large GRF": f"threads of twice the registers halve the {contexts} contexts of an Xe-core",
        "slm": f"each work-group takes {slm_bytes} of {gpu.slm_per_xe_core_bytes} bytes, so {resident} fit",
        "barriers": f"the {gpu.barrier_registers} registers of an Xe-core serve {resident}",
        "work-groups": f"an Xe-core holds at most {resident}",
        "global size": f"{launch.work_groups} of the {wave} work-groups of a full wave "
        f"({wave * launch.work_group_size} work-items)",
    }
    return f"{occupancy.limited_by}: {reasons[occupancy.limited_by]}"


@dataclass(frozen=True)
class HeatCell:
    """One point of a heat map; 0 work-groups and ``cannot launch`` where the GPU refuses the launch."""

    work_group_size: int
    slm_bytes: int
    work_groups_per_xe_core: int
    xe_core_occupancy: float
    limited_by: str


def heat_map(
    gpu: GpuParameters, sub_group_size: int, *, barriers: int = 0, large_grf: bool = False
) -> tuple[HeatCell, ...]:
    """Xe-core occupancy over work-group size and SLM per work-group, row by row of work-group sizes.

    Work-group sizes are `work_group_sizes`; SLM is none, and all sizes in which the GPU allocates.

    Raises:
        UnsupportedLaunch: the GPU does not offer the sub-group size, the barriers or large GRF at all.
    """
    sizes = work_group_sizes(gpu, sub_group_size)
    smallest = LaunchShape(min(sizes), sub_group_size, 0, barriers, None, large_grf)
    occupancy_of(smallest, gpu)
    return tuple(
        _cell(replace(smallest, work_group_size=size, slm_bytes=slm_bytes), gpu)
        for size in sizes
        for slm_bytes in (0, *gpu.slm_sizes_bytes)
    )


def work_group_sizes(gpu: GpuParameters, sub_group_size: int) -> tuple[int, ...]:
    """Work-group sizes worth a look: whose threads are a power of two or divide an Xe-core's contexts."""
    most = max(1, gpu.max_work_group_size // sub_group_size)
    threads = (n for n in range(1, most + 1) if n & (n - 1) == 0 or gpu.threads_per_xe_core % n == 0)
    return tuple(n * sub_group_size for n in threads)


def _cell(launch: LaunchShape, gpu: GpuParameters) -> HeatCell:
    work_groups, share, limited_by = 0, 0.0, "cannot launch"
    with suppress(UnsupportedLaunch):
        occupancy = occupancy_of(launch, gpu)
        work_groups, share = occupancy.work_groups_per_xe_core, occupancy.xe_core_occupancy
        limited_by = occupancy.limited_by
    return HeatCell(launch.work_group_size, launch.slm_bytes, work_groups, share, limited_by)
