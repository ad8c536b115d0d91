"""Measurements on disk: kept whole, and ignored when they are not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from xebench.roofs.measure import Roofline, Store
from xebench.system.runtime import DeviceInfo


def test_what_is_kept_comes_back(tmp_path: Path, measured: Roofline, gpu: DeviceInfo) -> None:
    store = Store(tmp_path / "new" / "folder")
    assert store.load(gpu) is None
    store.keep(measured)
    assert store.load(gpu) == replace(measured, cached=True)
    assert [path.suffix for path in store.folder.iterdir()] == [".json"], "no pieces are left"


@pytest.mark.parametrize(
    "change",
    [
        {"driver_version": "1.3.30000"},
        {"name": "Arc A750"},
        {"compute_units": 448},
        {"global_memory_bytes": 1 << 33},
        {"max_clock_mhz": 900},
        {"device": "level_zero:gpu:1"},  # the second of two equal ones
    ],
)
def test_another_device_or_driver_is_measured_anew(
    tmp_path: Path, measured: Roofline, gpu: DeviceInfo, change: dict[str, Any]
) -> None:
    store = Store(tmp_path)
    store.keep(measured)
    assert store.load(replace(gpu, **change)) is None


def test_of_two_equal_gpus_each_has_roofs_of_its_own(tmp_path: Path, measured: Roofline, gpu: DeviceInfo) -> None:
    first, second = (replace(gpu, hardware_id=f"pci 0000:{bus}:00.0") for bus in ("3a", "5d"))
    store = Store(tmp_path)
    store.keep(replace(measured, device=first))
    assert store.load(second) is None, "a variable hides the first one, so that the second has its filter string"
    assert store.load(gpu) is None, "nobody knows which of the two this is"
    moved = store.load(replace(first, device="level_zero:gpu:1"))
    assert moved is not None and moved.values == measured.values


def days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days)).isoformat(timespec="seconds")


def test_a_measurement_serves_for_a_week(tmp_path: Path, measured: Roofline, gpu: DeviceInfo) -> None:
    store = Store(tmp_path)
    for days, found in ((6, True), (8, False)):
        store.keep(replace(measured, measured_utc=days_ago(days)))
        assert (store.load(gpu) is not None) == found


def damage(text: str) -> dict[str, str]:
    fields = json.loads(text)
    return {
        "empty": "",
        "cut short": text[: len(text) // 2],
        "not JSON": "<html>",
        "a list": "[]",
        "null": "null",
        "without results": json.dumps({key: value for key, value in fields.items() if key != "results"}),
        "a probe is missing": json.dumps(fields | {"results": fields["results"][1:]}),
        "results of another kind": json.dumps(fields | {"results": [{"speed": 1}]}),
        "of another device": json.dumps(fields | {"device": fields["device"] | {"name": "other"}}),
        "without a device": json.dumps(fields | {"device": None}),
        "of no time": json.dumps(fields | {"measured_utc": "yesterday"}),
    }


@pytest.mark.parametrize("kind", list(damage('{"results": [0], "device": {}}')))
def test_a_damaged_file_is_no_file(tmp_path: Path, measured: Roofline, gpu: DeviceInfo, kind: str) -> None:
    store = Store(tmp_path)
    store.keep(measured)
    path = store.path(gpu)
    path.write_text(damage(path.read_text())[kind])
    assert store.load(gpu) is None
    store.keep(measured)
    assert store.load(gpu) is not None, "and is replaced"


def test_bytes_that_are_no_text(tmp_path: Path, measured: Roofline, gpu: DeviceInfo) -> None:
    store = Store(tmp_path)
    store.keep(measured)
    store.path(gpu).write_bytes(b"\xff\xfe\x00")
    assert store.load(gpu) is None


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path, measured: Roofline, gpu: DeviceInfo) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "folder")
    store.keep(measured)
    assert store.load(gpu) is None


def test_names_of_devices_are_no_paths(tmp_path: Path, gpu: DeviceInfo) -> None:
    path = Store(tmp_path).path(replace(gpu, name="../../etc/A" + "x" * 300))
    assert path.parent == tmp_path
    assert len(path.name) < 120


def test_the_default_folder_is_the_users_cache() -> None:
    assert Store().folder.parts[-2:] == ("xebench", "roofline")
