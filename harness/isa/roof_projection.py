"""The cases of a plan under the roofs of a GPU that is not there: `harness.gpu_model.roof_model` of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.gpu_model.gpus import GpuParameters
from harness.gpu_model.occupancy import Occupancy
from harness.gpu_model.roof_model import Bound, bound, engines_share
from harness.isa.collect import Work
from harness.isa.kernel_occupancy import KernelOccupancy, launched
from harness.patterns.plan import Family


@dataclass(frozen=True)
class Projection:
    """What the roofs of a GPU allow one case.

    Attributes:
        pattern, chapter, variant, role, preset: of the case.
        axes: the point on the pattern's axes, as JSON.
        work: the least work of its problem; None when the problem could not be built here.
        share: part of the vector engines that its launches can use.
        occupancy: of the launch that fills the device most; None when no launch is known.
        bound: the model's.
        reason: what is missing, "" if nothing.
        assumed: what was assumed about its launches, "" if nothing.
    """

    pattern: str
    chapter: str
    variant: str
    role: str
    preset: str
    axes: str
    work: Work | None
    share: float
    occupancy: Occupancy | None
    bound: Bound
    reason: str
    assumed: str = ""

    def to_json(self) -> dict[str, Any]:
        """One object of ``xebench project --json``; times in nanoseconds."""
        work, found = self.work, self.occupancy
        return {
            "model": "roof",
            "pattern": self.pattern,
            "variant": self.variant,
            "role": self.role,
            "preset": self.preset,
            "axes": json.loads(self.axes),
            "bytes_moved": work and work.bytes_moved,
            "operations": work and work.operations,
            "operation_kind": work and work.operation_kind,
            "device_occupancy": found and found.device_occupancy,
            "engines_share": self.share,
            "bound_memory_ns": self.bound.memory_ns,
            "bound_compute_ns": self.bound.compute_ns,
            "bound_ns": self.bound.time_ns,
            "bound_by": self.bound.bound_by,
            "reason": self.reason or None,
            "assumed": self.assumed or None,
        }


def project(
    plan: Sequence[Family], work: Iterable[Work], found: Sequence[KernelOccupancy], gpu: GpuParameters
) -> Iterator[Projection]:
    """Every case of a plan.

    Args:
        plan: the families.
        work: the least work of each, from `harness.isa.collect`.
        found: occupancies of their launches; those that are missing count as full.
        gpu: whose roofs.
    """
    stated = {(one.pattern, one.axes): one for one in work}
    for family in plan:
        axes = family.axes_json()
        for variant in family.pattern.variants:
            own = stated.get((family.pattern.name, axes))
            launches = launched(found, family.pattern.name, variant.name, axes)
            known = [one.found for one in launches if one.found is not None]
            share = engines_share(known)
            yield Projection(
                family.pattern.name,
                family.pattern.chapter,
                variant.name,
                variant.role,
                family.preset,
                axes,
                own,
                share,
                max(known, key=lambda one: one.device_occupancy, default=None),
                Bound(None, None)
                if own is None
                else bound(gpu, own.bytes_moved, own.operations, own.operation_kind, share),
                _missing(own, launches),
                "; ".join(dict.fromkeys(one.assumed for one in launches if one.assumed)),
            )


def _missing(work: Work | None, launches: Sequence[KernelOccupancy]) -> str:
    if work is None:
        return "its problem could not be built here"
    if work.bytes_moved is None and work.operations is None:
        return "the pattern states no least work"
    return next((one.reason for one in launches if one.reason), "")
