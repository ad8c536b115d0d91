"""The shortest time that a GPU's roofs allow a case: a model from parameters, never a measurement.

    memory    least bytes of the problem / bandwidth of the memory
    L3        the same bytes / bandwidth of the last cache, in place of memory where all data fit into it
    SLM       least bytes through shared local memory / its bandwidth
    compute   least operations / (rate of all vector engines x the part of them that can hold a thread)
    bound     the longest of these

That is the roofline of Williams, Waterman and Patterson (2009), with the occupancy of the launch: vector engines that
no thread can be on do not compute (`engines_share`). Nothing else is modelled. Latency, launch costs and a clock below
the product's make a real kernel slower; docs/projection.md tells by how much for rates of the guide. Data that are in a
cache of unknown bandwidth already, and kernels that run side by side, can make it faster.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import msgspec

from xebench.system.gpu_model.gpus import GpuParameters, find_gpu
from xebench.system.gpu_model.occupancy import Occupancy

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


class GuideFigure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rate that the guide measured on a GPU with known parameters.

    Attributes:
        id: of the catalogue.
        what: the case.
        gpu: as `find_gpu` knows it.
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
