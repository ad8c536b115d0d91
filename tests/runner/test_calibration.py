"""A run's roofs are those that are kept; a smoke run measures none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fake_device import GPU

from xebench.results.provenance import now
from xebench.roofs.catalogue import PROBES
from xebench.roofs.measure import ProbeResult, Roofline, Store
from xebench.runner import calibration
from xebench.runner.calibration import device_columns, kept_roofs, lacks_roofs, measured_roofs
from xebench.system.runtime import DeviceInfo


class Instrument:
    def measure_instrument(self) -> Mapping[str, Any]:
        return {"empty_kernel_ns": 6.0}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[DeviceInfo]:
    """The devices whose roofs were asked for; they reach 20 GB/s."""
    asked: list[DeviceInfo] = []

    def measure(device: DeviceInfo, *, store: Store, load_average: float | None) -> Roofline:
        asked.append(device)
        return Roofline(device, now(), 0.0, 8, (ProbeResult("read", "ok", 20.0, 20.0),))

    monkeypatch.setattr(calibration, "measure_roofline", measure)
    return asked


def test_roofs_and_the_instruments_error_are_columns(measured: list[DeviceInfo], tmp_path: Path) -> None:
    columns = device_columns(Instrument(), GPU, Store(tmp_path), "default")
    assert (columns["bandwidth_roof_gbps"], columns["empty_kernel_ns"]) == (20.0, 6.0)
    assert columns["roofs_from"].startswith("measured 2") and measured == [GPU]


def test_a_smoke_run_takes_roofs_that_are_kept_and_measures_none(
    measured: list[DeviceInfo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    columns = device_columns(Instrument(), GPU, store, "smoke")
    assert columns == {"empty_kernel_ns": 6.0, "roofs_from": "nowhere: the preset smoke measures none"}
    assert measured == []
    store.keep(every_probe(10.0, "ok", days=8))
    assert device_columns(Instrument(), GPU, store, "smoke")["bandwidth_roof_gbps"] == 10.0
    assert measured == []


def every_probe(value: float, status: Any, *, days: int) -> Roofline:
    """Roofs of a device, measured so many days ago."""
    results = tuple(ProbeResult(probe.name, status, value, value) for probe in PROBES)
    return Roofline(GPU, (datetime.now(UTC) - timedelta(days=days)).isoformat(), 0.0, 8, results)


def test_old_roofs_serve_until_new_ones_are_measured(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert lacks_roofs(GPU, store, "default") and kept_roofs(GPU, store, "default")["roofs_from"].startswith("nowhere")
    for days in (8, 6):
        old = every_probe(10.0, "ok", days=days)
        store.keep(old)
        kept = kept_roofs(GPU, store, "default")
        assert kept["bandwidth_roof_gbps"] == 10.0 and kept["roofs_from"] == f"measured {old.measured_utc}"
        assert lacks_roofs(GPU, store, "default") == (days == 8)


@pytest.mark.parametrize("status", ["ok", "failed"])
def test_the_last_trusted_roofs_stay_where_new_ones_cannot_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    store, new = Store(tmp_path), every_probe(20.0, status, days=0)
    monkeypatch.setattr(calibration, "measure_roofline", lambda *_, **__: new)
    assert measured_roofs(GPU, store)["bandwidth_roof_gbps"] == 20.0, "none are kept"
    store.keep(every_probe(10.0, "ok", days=8))
    assert measured_roofs(GPU, store)["bandwidth_roof_gbps"] == (20.0 if status == "ok" else 10.0)


def test_a_run_without_a_store_has_no_roofs(measured: list[DeviceInfo]) -> None:
    assert device_columns(Instrument(), GPU, None, "default")["roofs_from"] == "nowhere" and measured == []
