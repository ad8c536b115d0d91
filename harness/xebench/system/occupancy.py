"""Compute the occupancy of an Intel GPU by a launch, its limit, and similar launches with a higher occupancy.

Computed, never measured.

Formulas F1 to F6 are those of the guide ("Thread Mapping and GPU Occupancy" and the notebook of that name).
`occupancy_of` joins them in the way of Intel's GPU Occupancy Calculator (``data/gpus.json`` names the snapshot),
without the rounding that the calculator does for display:

    T         thread contexts of an Xe-core (F1), half of them with large GRF
    t         ceil(work-group size / sub-group size), threads of a work-group
    n         min(T // t, SLM of the core // SLM of a work-group as allocated (F6),
              barrier registers // barriers, most work-groups per Xe-core)
    Xe-core   n t / T_all, where T_all counts all contexts: large GRF never exceeds one half (F5)
    waves     work-groups / (Xe-cores n)
    device    peak: the fullest wave; average: over all waves, the partial last one (the tail) included

The guide's printed tables are peaks, so `device_occupancy` is the peak. With less than one wave it is F3: the
threads of all work-groups over the thread contexts of the GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import log2, prod
from typing import Final

from xebench.errors import XebenchError
from xebench.system.gpus import GpuParameters, parse_size

#: Work-group size assumed if the launch leaves it to the driver; smaller if it does not divide the launch.
DRIVERS_WORK_GROUP: Final = 256


class UnsupportedLaunch(XebenchError):
    """The GPU cannot run such a launch; the message names the limit."""


@dataclass(frozen=True)
class LaunchShape:
    """The resources that a kernel takes of the GPU.

    Attributes:
        slm_bytes: shared local memory of one work-group.
        barriers: barrier registers of one work-group: 1 for any number of ordinary group barriers, more only
            with named barriers (``barrier_count`` of the compiled kernel).
        global_size: work-items in all; None: so many that the GPU never runs out of work-groups.
        large_grf: twice the registers per thread, half the threads.
    """

    work_group_size: int
    sub_group_size: int
    slm_bytes: int = 0
    barriers: int = 0
    global_size: int | None = None
    large_grf: bool = False

    @property
    def threads_per_work_group(self) -> int:
        """Hardware threads of one work-group: one per sub-group, the last perhaps partly filled."""
        return -(-self.work_group_size // self.sub_group_size)

    @property
    def work_groups(self) -> int | None:
        """Work-groups in all, None without a global size."""
        return None if self.global_size is None else self.global_size // self.work_group_size


def parse_launch(
    work_group: str,
    sub_group: str,
    *,
    slm: str = "0",
    barriers: int = 0,
    global_size: str | None = None,
    large_grf: bool = False,
) -> LaunchShape:
    """A launch from a command line: sizes such as ``32K`` and ``1M``, ranges such as ``64x64x128``.

    Raises:
        SizeError: one of the texts is no size.
    """
    return LaunchShape(
        _extent(work_group),
        parse_size(sub_group),
        parse_size(slm),
        barriers,
        None if global_size is None else _extent(global_size),
        large_grf,
    )


def _extent(text: str) -> int:
    extent = prod(map(parse_size, text.lower().split("x")))
    return parse_size(extent)


@dataclass(frozen=True)
class Occupancy:
    """The occupancy of a launch, as fractions of thread contexts from 0 to 1.

    Attributes:
        work_group_utilisation: occupancy of a single work-group on its Xe-core (F4).
        work_groups_per_xe_core: number of resident work-groups, at most those of the launch.
        device_occupancy: occupancy of the fullest wave.
        average_device_occupancy: mean over all waves, with equal weights.
        tail_occupancy: occupancy of the last wave if it is partial, else None.
        waves: rounds of work-groups that the GPU needs, not rounded; None without a global size.
        limited_by: ``threads``, ``large GRF``, ``slm``, ``barriers``, ``work-groups``, or ``global size`` if
            the launch does not fill one wave.
        work_groups_by_limit: work-groups per Xe-core that each limit alone allows.
    """

    gpu: GpuParameters
    launch: LaunchShape
    threads_per_work_group: int
    work_group_utilisation: float
    work_groups_per_xe_core: int
    xe_core_occupancy: float
    device_occupancy: float
    average_device_occupancy: float
    tail_occupancy: float | None
    waves: float | None
    limited_by: str
    work_groups_by_limit: dict[str, int]

    @property
    def is_upper_bound(self) -> bool:
        """True if the launch does not fill one wave: it is unknown how long all of its work-groups run together."""
        return self.waves is not None and self.waves < 1

    def to_json(self) -> dict[str, str | int | float | None]:
        """The figures that ``xebench occupancy --json`` prints."""
        per_core = ("threads_per_work_group", "work_groups_per_xe_core", "xe_core_occupancy")
        names = (*per_core, "device_occupancy", "is_upper_bound", "waves", "limited_by")
        return {"gpu": self.gpu.code, **{name: getattr(self, name) for name in names}}


def drivers_work_group(global_size: int, gpu: GpuParameters) -> int:
    """The work-group that is assumed where a launch leaves it to the driver."""
    size = min(DRIVERS_WORK_GROUP, gpu.max_work_group_size)
    while global_size % size:
        size -= 1
    return size


def occupancy_of(launch: LaunchShape, gpu: GpuParameters) -> Occupancy:
    """The occupancy of the GPU by a launch.

    Raises:
        UnsupportedLaunch: the GPU cannot run it.
    """
    limits = _work_groups_by_limit(launch, gpu)
    per_core = min(limits.values())
    per_wave = per_core * gpu.xe_cores
    threads = launch.threads_per_work_group
    work_groups = launch.work_groups
    full = threads * per_core / gpu.threads_per_xe_core

    peak, average, tail, waves = full, full, None, None
    if work_groups is not None:
        waves = work_groups / per_wave
        full_waves, left = divmod(work_groups, per_wave)
        if left:
            tail = threads * left / gpu.threads
            average = (full_waves * full + tail) / (full_waves + 1)
            peak = full if full_waves else tail
    resident = per_core if work_groups is None else min(per_core, work_groups)
    return Occupancy(
        gpu=gpu,
        launch=launch,
        threads_per_work_group=threads,
        work_group_utilisation=threads / gpu.threads_per_xe_core,
        work_groups_per_xe_core=resident,
        xe_core_occupancy=threads * resident / gpu.threads_per_xe_core,
        device_occupancy=peak,
        average_device_occupancy=average,
        tail_occupancy=tail,
        waves=waves,
        limited_by=_limited_by(launch, gpu, limits),
        work_groups_by_limit=limits,
    )


def _work_groups_by_limit(launch: LaunchShape, gpu: GpuParameters) -> dict[str, int]:
    slm_bytes = _check(launch, gpu)
    limits = {"threads": _contexts(launch, gpu) // launch.threads_per_work_group}
    if slm_bytes:
        limits["slm"] = gpu.slm_per_xe_core_bytes // slm_bytes
    if launch.barriers:
        limits["barriers"] = gpu.barrier_registers // launch.barriers
    limits["work-groups"] = gpu.max_work_groups_per_xe_core
    return limits


def _contexts(launch: LaunchShape, gpu: GpuParameters) -> int:
    return gpu.threads_per_xe_core // (2 if launch.large_grf else 1)


def _limited_by(launch: LaunchShape, gpu: GpuParameters, limits: dict[str, int]) -> str:
    per_core = min(limits.values())
    if launch.work_groups is not None and launch.work_groups < per_core * gpu.xe_cores:
        return "global size"
    # the first of equal limits: with all threads in use, more SLM or barriers would not help
    binding = next(name for name, work_groups in limits.items() if work_groups == per_core)
    return "large GRF" if binding == "threads" and launch.large_grf else binding


def _check(launch: LaunchShape, gpu: GpuParameters) -> int:
    """The SLM that a work-group is given in bytes; a launch that cannot run ends here."""
    size, sub_group_size, global_size = launch.work_group_size, launch.sub_group_size, launch.global_size
    if size < 1 or launch.slm_bytes < 0 or launch.barriers < 0 or (global_size is not None and global_size < 1):
        raise UnsupportedLaunch("sizes must be above 0, SLM and barriers not below it")
    if size > gpu.max_work_group_size:
        raise UnsupportedLaunch(f"{gpu.code} has no work-groups of {size}: use at most {gpu.max_work_group_size}")
    if sub_group_size not in gpu.sub_group_sizes:
        offered = ", ".join(map(str, gpu.sub_group_sizes))
        raise UnsupportedLaunch(f"{gpu.code} has no sub-groups of {sub_group_size}: use one of {offered}")
    if launch.large_grf and not gpu.large_grf:
        raise UnsupportedLaunch(f"{gpu.code} has no large GRF mode: compile for the small one")
    contexts = _contexts(launch, gpu)
    if launch.threads_per_work_group > contexts:
        needed = f"a work-group of {size} needs {launch.threads_per_work_group} threads"
        largest = contexts * sub_group_size
        raise UnsupportedLaunch(f"{needed}, an Xe-core of {gpu.code} has {contexts}: use at most {largest} work-items")
    slm_bytes = gpu.allocated_slm_bytes(launch.slm_bytes)
    if slm_bytes is None:
        largest = gpu.max_slm_per_work_group_bytes
        raise UnsupportedLaunch(
            f"{gpu.code} has no {launch.slm_bytes} bytes of SLM per work-group: use at most {largest}"
        )
    if launch.barriers > gpu.barrier_registers:
        registers = gpu.barrier_registers
        raise UnsupportedLaunch(f"{gpu.code} has no {launch.barriers} barriers per work-group: use at most {registers}")
    if global_size is not None and global_size % size:
        raise UnsupportedLaunch(f"global size {global_size} is no multiple of the work-group size {size}: pad it")
    return slm_bytes


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
    # among equal changes the fuller one, then the easier: work-group size before sub-group size and SLM
    nearest = min(fuller, key=lambda step: (round(step[0], 9), -round(step[1].device_occupancy, 9)), default=None)
    return nearest and nearest[1]


def _fuller(current: Occupancy, launches: Iterable[tuple[float, LaunchShape]]) -> Iterator[tuple[float, Occupancy]]:
    """The launches that the GPU can run with a higher occupancy, each with the size of its change."""
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
