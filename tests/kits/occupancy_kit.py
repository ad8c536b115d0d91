"""What the tests of occupancy share."""

from __future__ import annotations

from xebench.system.gpus import GpuParameters
from xebench.system.occupancy import LaunchShape, Occupancy, occupancy_of


def occupancy(gpu: GpuParameters, *shape: int, global_size: int | None = None, **rest: int) -> Occupancy:
    """Of a launch by its numbers: work-group size, sub-group size, SLM bytes, barriers, as `LaunchShape` has them."""
    return occupancy_of(LaunchShape(*shape, global_size=global_size, **rest), gpu)
