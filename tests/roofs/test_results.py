"""Roofs of a run, raised by those that were measured with more patience."""

import json
from dataclasses import replace

import pytest

from xebench.results.device_facts import Roof
from xebench.roofs.measure import ProbeResult, Roofline, with_kept_roofs


def kept(measured: Roofline, **values: float) -> Roofline:
    """A measurement of some probes."""
    results = tuple(ProbeResult(probe, "ok", value) for probe, value in values.items())
    return replace(measured, measured_utc="2026-11-21T03:00:00Z", results=results)


def test_without_earlier_roofs_those_of_the_run_stand() -> None:
    merged = with_kept_roofs({"bandwidth_roof_gbps": 30.0, "aa_low": 0.99}, None)
    assert merged["bandwidth_roof_gbps"] == 30
    assert merged["aa_low"] == 0.99
    assert merged["slm_roof_gbps"] is None
    assert merged["roofs_from"] == "this run"


def test_the_higher_roof_counts_and_its_source_is_told(measured: Roofline) -> None:
    merged = with_kept_roofs(
        {"bandwidth_roof_gbps": 30.0, "fp32_roof_gflops": 100.0, "fp64_roof_gflops": None},
        kept(measured, read=40.0, stream_copy=35.0, fp32=90.0),
    )
    known = {roof: merged[roof.column] for roof in Roof if merged[roof.column] is not None}
    assert known == {Roof.BANDWIDTH: 40.0, Roof.READ: 40.0, Roof.COPY: 35.0, Roof.FP32: 100.0}
    assert merged["roofs_from"] == "xebench roofline of 2026-11-21T03:00:00Z"


def test_lower_earlier_roofs_change_nothing(measured: Roofline) -> None:
    in_run = {"bandwidth_roof_gbps": 30.0, "memory_read_roof_gbps": 30.0, "roofs_from": "this run; fp32: wrong"}
    merged = with_kept_roofs(in_run, kept(measured, read=20.0))
    assert (merged["bandwidth_roof_gbps"], merged["roofs_from"]) == (30.0, "this run; fp32: wrong")


def test_what_is_still_not_known_keeps_its_reason(measured: Roofline) -> None:
    in_run = {
        "link_roofs": json.dumps({"host_to_device": None, "device_to_host": None}),
        "roofs_from": "this run; fp32: wrong; host_to_device: halves differ; device_to_host: halves differ; fp64: none",
    }
    merged = with_kept_roofs(in_run, kept(measured, fp32=90.0, host_to_device=6.0))
    kept_from = "xebench roofline of 2026-11-21T03:00:00Z"
    assert merged["roofs_from"] == f"{kept_from}; device_to_host: halves differ; fp64: none"


def test_levels_are_raised_too_and_named_by_the_caches(measured: Roofline) -> None:
    in_run = json.dumps([{"level": "memory", "working_set_bytes": 1 << 20, "gbps": 300.0}])
    earlier = kept(measured, read=40.0, read_512KiB=500.0, read_1MiB=200.0, read_16MiB=90.0, read_32MiB=80.0)
    merged = with_kept_roofs({"bandwidth_roof_gbps": 30.0, "bandwidth_levels": in_run}, earlier)
    found = [tuple(one.values()) for one in json.loads(merged["bandwidth_levels"])]
    # the driver of this GPU tells of 16 MiB: a set that reaches beyond is the memory's, however fast it was read
    assert found == [
        ("cache", 1 << 19, 500.0),
        ("cache", 1 << 20, 300.0),
        ("memory", 1 << 24, 90.0),
        ("memory", 1 << 25, 80.0),
        ("memory", 1 << 26, 40.0),
    ]


def test_roofs_of_copies_are_raised_too(measured: Roofline) -> None:
    in_run = json.dumps({"host_to_device": 5.0, "device_to_host": 9.0})
    merged = with_kept_roofs({"link_roofs": in_run}, kept(measured, host_to_device=6.0, device_to_host=8.0))
    routes = json.loads(merged["link_roofs"])
    assert (routes["host_to_device"], routes["device_to_host"], routes["device_to_shared"]) == (6.0, 9.0, None)
    assert with_kept_roofs({"link_roofs": in_run}, None)["link_roofs"] == in_run


def test_a_kept_roof_is_disturbed_only_if_it_was_measured_on_a_busy_host(measured: Roofline) -> None:
    in_run = {"bandwidth_roof_gbps": 30.0, "fp32_roof_gflops": 100.0, "roofs_disturbed": "bandwidth, fp32"}
    earlier = kept(measured, read=40.0, fp32=90.0)
    assert with_kept_roofs(in_run, earlier)["roofs_disturbed"] == "fp32"
    assert with_kept_roofs(in_run, None)["roofs_disturbed"] == "bandwidth, fp32"
    busy = replace(earlier, load_average=8.0, device=replace(earlier.device, device_class="cpu"))
    assert with_kept_roofs(in_run, busy)["roofs_disturbed"] == "bandwidth, fp32"


@pytest.mark.parametrize(("value", "median", "disturbed"), [(10.0, 9.0, False), (10.0, 5.0, True), (5.0, 10.0, True)])
def test_repeats_that_disagree_tell_of_others_at_work(value: float, median: float, disturbed: bool) -> None:
    assert ProbeResult("fp32", "ok", value, median).disturbed == disturbed
    assert not ProbeResult("fp32", "skipped").disturbed
