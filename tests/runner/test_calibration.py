"""A run's roofs are those that are kept; a smoke run measures none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_device import GPU

from xebench.results.provenance import now
from xebench.roofs.measure import ProbeResult, Roofline, Store
from xebench.runner import calibration
from xebench.runner.calibration import device_columns
from xebench.system.runtime import DeviceInfo


class Instrument:
    def measure_instrument(self) -> Mapping[str, Any]:
        return {"empty_kernel_ns": 6.0}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[DeviceInfo]:
    """The devices whose roofs were asked for; they reach 20 GB/s."""
    asked: list[DeviceInfo] = []

    def measure(device: DeviceInfo, *, store: Store, say: Callable[[str], None] = print) -> Roofline:
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
    monkeypatch.setattr(store, "load", lambda device: "kept")
    assert device_columns(Instrument(), GPU, store, "smoke")["bandwidth_roof_gbps"] == 20.0


def test_a_run_without_a_store_has_no_roofs(measured: list[DeviceInfo]) -> None:
    assert device_columns(Instrument(), GPU, None, "default")["roofs_from"] == "nowhere" and measured == []
