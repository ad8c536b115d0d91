"""Occupancy of one launch, what limits it, and launches near it: for the terminal and as JSON."""

from __future__ import annotations

import json

from xebench.report.units import percent
from xebench.system.gpu_model.occupancy import Occupancy, difference, explain, nearest_better


def as_json(occupancy: Occupancy) -> str:
    """One object."""
    return json.dumps(occupancy.to_json())


def as_text(occupancy: Occupancy) -> str:
    """Occupancies, what limits them, the nearest better launch and the best one near, a line each."""
    gpu, launch = occupancy.gpu, occupancy.launch
    lines = [
        f"{gpu.product.name} ({gpu.code}): {gpu.xe_cores} Xe-cores of {gpu.threads_per_xe_core} contexts",
        f"work-group {launch.work_group_size}, sub-group {launch.sub_group_size}: "
        f"{occupancy.threads_per_work_group} threads, {percent(occupancy.work_group_utilisation)} of an Xe-core",
        f"Xe-core: {occupancy.work_groups_per_xe_core} work-groups, occupancy {percent(occupancy.xe_core_occupancy)}",
        f"device: occupancy {percent(occupancy.device_occupancy)}{_waves(occupancy)}",
        f"limited by {explain(occupancy)}",
    ]
    nearest, best = nearest_better(occupancy), nearest_better(occupancy, best=True)
    if nearest is None:
        lines.append("no single change of work-group size, sub-group size or SLM makes it fuller")
    else:
        lines.append(f"nearest better: {step_text(occupancy, nearest)}")
    if best is not None and best != nearest:
        lines.append(f"fullest near it: {step_text(occupancy, best)}")
    return "\n".join(lines)


def _waves(occupancy: Occupancy) -> str:
    if occupancy.waves is None:
        return ""
    if occupancy.is_upper_bound:
        return f" at most: {occupancy.waves:.2f} of a wave, in which work-groups need not begin together"
    tail = "" if occupancy.tail_occupancy is None else f", {percent(occupancy.tail_occupancy)} in the last one"
    return f" at its peak, {percent(occupancy.average_device_occupancy)} over {occupancy.waves:.2f} waves{tail}"


def step_text(occupancy: Occupancy, better: Occupancy) -> str:
    """The change to make, and the occupancy after it."""
    return f"{difference(occupancy.launch, better.launch)} gives {percent(better.device_occupancy)}"
