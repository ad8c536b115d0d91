"""Is a GPU there, may it be opened, which packages are missing: from files alone."""

from __future__ import annotations

import ctypes.util
import grp
import os
from pathlib import Path

import pytest

from xebench.system.runtime import gpu_drivers


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "dev/dri").mkdir(parents=True)
    return tmp_path


def on_bus(root: Path, address: str, vendor: str, class_: str) -> None:
    folder = root / "sys/bus/pci/devices" / address
    folder.mkdir(parents=True)
    (folder / "vendor").write_text(f"{vendor}\n")
    (folder / "class").write_text(f"{class_}\n")


def test_no_gpu_is_nothing_wrong(root: Path) -> None:
    (finding,) = gpu_drivers.access_findings(root)
    assert finding.status == "ok"


def test_a_gpu_without_a_node_needs_a_driver_or_a_container_option(root: Path) -> None:
    on_bus(root, "0000:03:00.0", "0x8086", "0x030000")
    on_bus(root, "0000:04:00.0", "0x10de", "0x030000")
    on_bus(root, "0000:05:00.0", "0x8086", "0x020000")
    (finding,) = gpu_drivers.access_findings(root)
    assert finding.status == "warning"
    assert "(0000:03:00.0)" in finding.detail
    assert "--device /dev/dri" in finding.next_step


def test_a_node_that_may_be_opened(root: Path) -> None:
    (root / "dev/dri/renderD128").touch()
    (finding,) = gpu_drivers.access_findings(root)
    assert finding.status == "ok"
    assert gpu_drivers.nodes(root) == [root / "dev/dri/renderD128"]


def test_a_node_that_may_not_be_opened_names_its_group(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "dev/dri/renderD128").touch()
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    monkeypatch.setattr(gpu_drivers, "_group_of", lambda node: "render")
    (finding,) = gpu_drivers.access_findings(root)
    assert finding.status == "warning"
    assert finding.detail.endswith("you are not in group render")
    assert finding.next_step.startswith("sudo usermod -aG render ")


def test_a_group_without_a_name_is_its_number(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr(grp, "getgrgid", unknown)
    assert gpu_drivers._group_of(root) == str(root.stat().st_gid)


@pytest.mark.parametrize(("expected", "status"), [(True, "warning"), (False, "ok")])
def test_a_missing_level_zero_matters_where_a_gpu_is(
    monkeypatch: pytest.MonkeyPatch, expected: bool, status: str
) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    loader, driver = gpu_drivers.level_zero_findings(expected, "libze_nowhere.so.1")
    assert loader.status == driver.status == status
    assert "libze1" in loader.next_step
    assert "intel-level-zero-gpu" in driver.next_step


def test_a_loader_without_the_newest_function_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: "libze_intel_gpu.so.1")
    loader, driver = gpu_drivers.level_zero_findings(True, "libc.so.6")
    assert loader.status == "warning"
    assert "too old" in loader.detail
    assert driver.status == "ok"


def test_the_opencl_driver_for_gpus() -> None:
    assert gpu_drivers.opencl_finding(["/usr/lib/libigdrcl.so"], expected=True).status == "ok"
    assert gpu_drivers.opencl_finding(["libnvidia-opencl.so.1"], expected=True).detail == "libnvidia-opencl.so.1"
    absent = gpu_drivers.opencl_finding(["/usr/lib/libpocl.so", "/env/lib/libintelocl.so"], expected=True)
    assert absent.status == "warning"
    assert "intel-opencl-icd" in absent.next_step
