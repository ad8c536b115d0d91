"""Invented devices and measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from xebench.results.provenance import now
from xebench.roofs.catalogue import PROBES
from xebench.roofs.measure import ProbeResult, Roofline
from xebench.system.runtime import DeviceInfo


@pytest.fixture
def gpu() -> DeviceInfo:
    return DeviceInfo(
        device="level_zero:gpu:0",
        name="Arc / A770",
        vendor="Intel(R) Corporation",
        backend="level_zero",
        driver_version="1.3.26241",
        device_class="gpu",
        compute_units=512,
        sub_group_sizes=(8, 16, 32),
        local_memory_bytes=1 << 16,
        global_memory_bytes=1 << 34,
        global_cache_bytes=1 << 24,
        max_work_group_size=1024,
        max_alloc_bytes=1 << 33,
        max_clock_mhz=2400,
        timer_resolution_ns=52,
        aspects=("fp16",),
    )


@pytest.fixture
def measured(gpu: DeviceInfo) -> Roofline:
    """Each probe's value is its place in the catalogue, beginning at 1; no fp64."""
    results = [
        ProbeResult(probe.name, "ok", float(place), 0.95 * place, 20, 1e6, {"work-group": 256})
        for place, probe in enumerate(PROBES, 1)
    ]
    place = next(place for place, probe in enumerate(PROBES) if probe.name == "fp64")
    results[place] = ProbeResult("fp64", "skipped", reason="the device has no fp64")
    return Roofline(gpu, now(), 0.5, 8, tuple(results))


@pytest.fixture
def with_result(measured: Roofline) -> Callable[..., Roofline]:
    """A function that gives the same measurement with other results of a probe."""

    def change(probe: str, of: Roofline = measured, **changes: Any) -> Roofline:
        results = [replace(result, **changes) if result.probe == probe else result for result in of.results]
        return replace(of, results=tuple(results))

    return change


@pytest.fixture
def failed(with_result: Callable[..., Roofline]) -> Roofline:
    return with_result("read", status="failed", value=None, median=None, reason="crashed (SIGSEGV)")
