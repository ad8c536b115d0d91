"""Devices that are not there, for tests of decisions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from xebench.system.runtime import DeviceInfo

GPU = DeviceInfo(
    device="level_zero:gpu:0",
    name="Intel(R) Data Center GPU Max 1550",
    vendor="Intel(R) Corporation",
    backend="level_zero",
    driver_version="1.3.30049",
    device_class="gpu",
    compute_units=512,
    sub_group_sizes=(16, 32),
    local_memory_bytes=131072,
    global_memory_bytes=64 * 2**30,
    global_cache_bytes=204 * 2**20,
    max_work_group_size=1024,
    max_alloc_bytes=64 * 2**30,
    max_clock_mhz=1600,
    timer_resolution_ns=80,
    aspects=("gpu", "fp16", "fp64", "atomic64", "usm_device_allocations", "usm_shared_allocations"),
    hardware_id="pci 0000:3a:00.0",
)


def sycl_device(**changes: Any) -> SimpleNamespace:
    """What ``dpctl.SyclDevice`` offers, as far as the runtime room reads it."""
    fields: dict[str, Any] = {
        "filter_string": "opencl:gpu:0",
        "name": "Arc ",
        "vendor": "Intel(R) Corporation",
        "backend": SimpleNamespace(name="opencl"),
        "driver_version": "23.1",
        "is_gpu": True,
        "is_cpu": False,
        "max_compute_units": 128,
        "sub_group_sizes": [32, 8, 16],
        "local_mem_size": 65536,
        "global_mem_size": 2**33,
        "global_mem_cache_size": 2**22,
        "max_work_group_size": 1024,
        "max_mem_alloc_size": 2**32,
        "max_clock_frequency": 2100,
        "profiling_timer_resolution": 52,
        "has_aspect_gpu": True,
        "has_aspect_fp16": True,
        "has_aspect_fp64": False,
    }
    return SimpleNamespace(**(fields | changes))
