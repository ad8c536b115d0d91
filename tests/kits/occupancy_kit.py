"""What the tests of occupancy share."""

from __future__ import annotations

from xebench.system.gpus import GpuParameters
from xebench.system.occupancy import LaunchShape, Occupancy, occupancy_of


def occupancy(
    gpu: GpuParameters,
    work_group_size: int,
    sub_group_size: int,
    slm_bytes: int = 0,
    barriers: int = 0,
    global_size: int | None = None,
    large_grf: bool = False,
) -> Occupancy:
    """Of a launch by its numbers: work-group size, sub-group size, SLM bytes, barriers, as `LaunchShape` has them."""
    return occupancy_of(LaunchShape(work_group_size, sub_group_size, slm_bytes, barriers, global_size, large_grf), gpu)
