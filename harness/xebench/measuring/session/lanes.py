"""The number of work-items that fill a device, for launches that give every hardware thread work.

SYCL has no query for it, and a driver's native vector width is a hint to those who write vectors by hand: it says 1 for
GPUs whose threads have 32 lanes. So a compute unit is counted as

- its hardware threads times the largest sub-group that the device offers, on an Intel GPU. Level Zero tells the threads
  (``sycl_ext_intel_device_info``); for OpenCL they are looked up by the GPU's name (`xebench.system.gpu_model`);
- `ASSUMED_ITEMS`, on any other device.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from dpctl.utils import intel_device_info

from xebench.system.gpu_model.gpus import GpuError, gpu_of_device
from xebench.system.sycl_types import Device

#: Work-items for a compute unit whose threads are not known. A multiprocessor of Nvidia's data-centre GPUs holds 2048
#: (CUDA C++ Programming Guide, technical specifications of compute capability 7.0 to 9.0), and so does a compute unit
#: of AMD's CDNA 3 (32 waves of 64). A CPU's core holds one sub-group; this gives it some work-groups one after another.
ASSUMED_ITEMS: Final = 2048


def device_lanes(device: Device) -> int:
    """Work-items that fill a ``dpctl.SyclDevice``."""
    told = intel_device_info(device).get("gpu_hw_threads_per_eu") if device.is_gpu else None
    threads = told or (threads_by_name(device.name) if device.is_gpu else None)
    return lanes(device.max_compute_units, device.sub_group_sizes or (), threads)


def lanes(compute_units: int, sub_group_sizes: Sequence[int], threads: int | None) -> int:
    """Work-items that fill a device.

    Args:
        compute_units: of the device.
        sub_group_sizes: that it offers.
        threads: hardware threads of a compute unit, where they are known.
    """
    return compute_units * (ASSUMED_ITEMS if threads is None else threads * max(sub_group_sizes, default=1))


def core_threads(device: Device, sub_group_size: int) -> int:
    """Hardware threads of a core of a ``dpctl.SyclDevice``: what the groups that are resident there share.

    That is an Xe-core on an Intel GPU that is known; on any other device a compute unit, and a thread is a sub-group.
    """
    told = intel_device_info(device) if device.is_gpu else {}
    if "gpu_hw_threads_per_eu" in told and "gpu_eu_count_per_subslice" in told:
        return int(told["gpu_hw_threads_per_eu"] * told["gpu_eu_count_per_subslice"])
    with suppress(GpuError):
        return gpu_of_device(device.name).threads_per_xe_core
    return max(1, device_lanes(device) // int(device.max_compute_units) // sub_group_size)


def threads_by_name(name: str) -> int | None:
    """Hardware threads of a compute unit of an Intel GPU of the catalogue; None for another device."""
    try:
        return gpu_of_device(name).threads_per_eu
    except GpuError:
        return None
