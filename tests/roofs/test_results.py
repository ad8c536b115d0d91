"""The columns of a run that a measurement fills."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from xebench.records.device_facts import Roof
from xebench.results import TABLES
from xebench.roofs.measure import ProbeResult, Roofline


def test_every_column_is_one_of_the_devices_table(measured: Roofline) -> None:
    columns = measured.columns()
    assert columns.keys() == {roof.column for roof in Roof} | {
        *("bandwidth_levels", "link_roofs", "roofs_disturbed", "roofs_from")
    }
    assert columns.keys() <= TABLES["devices"].keys()
    assert columns["roofs_from"] == f"measured {measured.measured_utc}", "a device without fp64 lacks nothing"
    assert json.loads(str(columns["link_roofs"]))["host_to_device"] == measured.value("host_to_device")


def test_levels_are_named_by_the_caches(measured: Roofline) -> None:
    values = {"read": 40.0, "read_512KiB": 500.0, "read_1MiB": 200.0, "read_16MiB": 90.0, "read_32MiB": 80.0}
    of_values = replace(measured, results=tuple(ProbeResult(name, "ok", value) for name, value in values.items()))
    found = [tuple(one.values()) for one in json.loads(str(of_values.columns()["bandwidth_levels"]))]
    # the driver of this GPU tells of 16 MiB: a set that reaches beyond is the memory's, however fast it was read
    assert found == [
        ("cache", 1 << 19, 500.0),
        ("cache", 1 << 20, 200.0),
        ("memory", 1 << 24, 90.0),
        ("memory", 1 << 25, 80.0),
        ("memory", 1 << 26, 40.0),
    ]


def test_what_is_not_known_has_its_reason(with_result: Callable[..., Roofline]) -> None:
    lost = {"value": None, "median": None}
    wrong = with_result("fp32", status="failed", reason="3 of 4 elements are wrong", **lost)
    wrong = with_result("device_to_host", wrong, status="undetermined", reason="halves differ", **lost)
    wrong = with_result("read", wrong, status="skipped", reason="would fit into the cache", **lost)
    assert str(wrong.columns()["roofs_from"]).split("; ")[1:] == [
        "bandwidth: would fit into the cache",
        "fp32: 3 of 4 elements are wrong",
        "device_to_host: halves differ",
    ]


def test_roofs_whose_repeats_disagree_are_named(with_result: Callable[..., Roofline]) -> None:
    shaken = with_result("fp32", median=1.0)
    shaken = with_result("host_to_device", shaken, median=1.0)
    assert shaken.disturbed == [Roof.FP32], "repeats of a copy differ on a quiet machine, too"
    assert shaken.columns()["roofs_disturbed"] == "fp32"
    busy = replace(shaken, load_average=8.0, device=replace(shaken.device, device_class="cpu"))
    assert busy.disturbed == [roof for roof in Roof if roof is not Roof.FP64]
    assert shaken.trusted and not busy.trusted


@pytest.mark.parametrize(("value", "median", "disturbed"), [(10.0, 9.0, False), (10.0, 5.0, True), (5.0, 10.0, True)])
def test_repeats_that_disagree_tell_of_others_at_work(value: float, median: float, disturbed: bool) -> None:
    assert ProbeResult("fp32", "ok", value, median).disturbed == disturbed
    assert not ProbeResult("fp32", "skipped").disturbed
