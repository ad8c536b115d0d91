"""The table and JSON of a measurement."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest

from xebench.cli.machine_views import ROOFLINE, quantity
from xebench.roofs.catalogue import PROBES
from xebench.roofs.measure import Roofline


def test_the_table_names_every_probe_with_its_unit(measured: Roofline) -> None:
    text = ROOFLINE.as_text(measured)
    for probe in PROBES:
        assert probe.title in text
    assert f"Arc / A770 (level_zero:gpu:0, driver 1.3.26241), measured {measured.measured_utc}" in text
    assert {"global memory", "arithmetic", "transfers"} <= set(text.splitlines())
    assert "the device has no fp64" in text
    assert "work-group 256" in text
    value = {probe.name: quantity(place, probe.unit) for place, probe in enumerate(PROBES, 1)}
    assert (
        f"roofs: bandwidth {value['read_256MiB']}, memory read {value['read']}, memory write {value['write']}, memory "
        f"copy {value['stream_copy']}, memory triad {value['stream_triad']}, fp32 {value['fp32']}, fp64 -, int32 "
        f"{value['int32']}, SLM {value['slm_read']}" in " ".join(text.split())
    )
    assert max(map(len, text.splitlines())) <= 120


def test_what_the_reader_must_know_is_said(measured: Roofline, failed: Roofline) -> None:
    assert "busy" not in ROOFLINE.as_text(measured)
    busy = replace(measured, load_average=5.0, device=replace(measured.device, device_class="cpu"))
    assert "the host was busy (load 5.0 on 8 cores)" in ROOFLINE.as_text(busy)
    assert f"kept from {measured.measured_utc}" in ROOFLINE.as_text(replace(measured, cached=True))
    assert "crashed (SIGSEGV)" in ROOFLINE.as_text(failed)
    assert "failed, so nothing is kept: read" in ROOFLINE.as_text(failed)


def test_json_is_everything_and_reads_back(measured: Roofline) -> None:
    fields = json.loads(ROOFLINE.as_json(measured))
    assert msgspec.convert(fields, Roofline) == measured
    assert fields["roofs"]["fp64_roof_gflops"] is None
    assert fields["roofs"]["fp32_roof_gflops"] == measured.value("fp32")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1234.5, "GB/s", "1234 GB/s"),
        (123.4, "GB/s", "123 GB/s"),
        (12.34, "GB/s", "12.3 GB/s"),
        (1.234, "GB/s", "1.23 GB/s"),
        (0.1234, "Gop/s", "0.123 Gop/s"),
    ],
)
def test_quantities(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text
