"""The occupancy of a case's launches on the GPU that it ran on, predicted by the model, beside measured times."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any

from xebench.report import units
from xebench.system.gpu_model.gpu_parameters import GpuError, GpuParameters
from xebench.system.gpu_model.gpus import gpu_of_device
from xebench.system.gpu_model.occupancy import LaunchShape, UnsupportedLaunch, drivers_work_group, occupancy_of
from xebench.tables import Run
from xebench.tables.analysis.rows import DeviceKey, by_place, place, rows
from xebench.vocabulary import DeviceClass


def occupancies(run: Run) -> dict[str, dict[str, str]]:
    """The predicted occupancy of each case, as text, by family_id and variant; cases without a prediction are left out.

    It is the average over the waves of a kernel's work-groups; of several kernels, the lowest and the highest.
    """
    known = {name: gpu for name, gpu in _gpus(run).items() if gpu is not None}
    if not known:
        return {}
    found: dict[str, dict[str, str]] = {}
    for case in rows(run.cases):
        if place(case) in known and (words := _words(case["kernels"], known[place(case)])):
            found.setdefault(case["family_id"], {})[case["variant"]] = words
    return found


def _gpus(run: Run) -> dict[DeviceKey, GpuParameters | None]:
    devices = run.devices[run.devices["device_class"] == DeviceClass.GPU]
    return {key: _gpu(row) for key, row in by_place(devices).items()}


def _gpu(device: Mapping[Any, Any]) -> GpuParameters | None:
    """The GPU of a row of `devices`; None where the catalogue has none of its name, or not with so many engines."""
    try:
        return gpu_of_device(str(device["name"]), int(device["compute_units"]))
    except (GpuError, TypeError):
        return None


def _words(kernels: Any, gpu: GpuParameters) -> str:
    launches = json.loads(kernels) if isinstance(kernels, str) else []
    parts = [part for part in (_average(launch, gpu) for launch in launches) if part is not None]
    if len(parts) < len(launches) or not parts:
        return ""
    lowest, highest = (units.percent(part) for part in (min(parts), max(parts)))
    return lowest if lowest == highest else f"{lowest} to {highest}"


def _average(kernel: Mapping[str, Any], gpu: GpuParameters) -> float | None:
    """The occupancy of one kernel's first launch; None if the run did not keep it, or the model has no such launch."""
    width, extents = kernel.get("max_sub_group_size"), kernel.get("global_size")
    if not width or not extents:
        return None
    items, local = prod(extents), kernel.get("local_size")
    shape = LaunchShape(
        work_group_size=prod(local) if local else drivers_work_group(items, gpu),
        sub_group_size=width,
        slm_bytes=kernel.get("local_bytes", 0),
        # who shares memory meets at a barrier; others may too, which only groups of one thread would notice
        barriers=int(kernel.get("local_bytes", 0) > 0),
        global_size=items,
        large_grf=any(option in kernel["build_options"] for option in ("large-register-file", "256-GRF")),
    )
    try:
        return occupancy_of(shape, gpu).average_device_occupancy
    except UnsupportedLaunch:
        return None
