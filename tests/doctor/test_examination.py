"""The examination: sound, broken, and with devices that fail."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from fake_device import GPU

from numba_sycl import libraries
from xebench.doctor import examination as doctor
from xebench.doctor.examination import Report, SelfTest, examine
from xebench.system.children.process import ChildReply
from xebench.system.runtime import gpu_drivers, list_devices, mpi, packages, sycl_headers
from xebench.system.runtime.devices import DeviceInfo
from xebench.system.runtime.packages import Finding

CPU = replace(GPU, device="opencl:cpu:0", backend="opencl", device_class="cpu", name="Xeon")


@pytest.fixture(autouse=True)
def sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong, one CPU device is there, and it computes right."""
    monkeypatch.setattr(packages, "python_finding", lambda: Finding("python", "ok", "Python", "3.11"))
    monkeypatch.setattr(packages, "package_findings", list)
    monkeypatch.setattr(libraries, "missing_libraries", dict)
    monkeypatch.setattr(libraries, "find_library", lambda name: Path("/env/lib") / name)
    monkeypatch.setattr(gpu_drivers, "nodes", lambda *root: [])
    devices_are(monkeypatch, CPU)
    monkeypatch.setattr(doctor, "selftest", lambda device: SelfTest(device.device))


def devices_are(monkeypatch: pytest.MonkeyPatch, *devices: object) -> None:
    answer = ChildReply([asdict(device) for device in devices])  # type: ignore[call-overload]
    monkeypatch.setattr(doctor, "ask", lambda module, arguments, timeout_s: answer)


def about(report: Report, title: str) -> Finding:
    return next(finding for finding in reversed(report.findings) if finding.title == title)


def test_a_sound_machine_is_usable() -> None:
    report = examine()
    assert report.usable
    assert report.devices == (CPU,)
    assert about(report, "opencl:cpu:0").detail.endswith("self-test passed")
    assert not [finding for finding in report.findings if finding.status == "error"]


def test_a_device_that_computes_wrong_is_not_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "selftest", lambda device: SelfTest(device.device, ("atomic add: 7 of 7 wrong",)))
    report = examine()
    assert not report.usable
    assert about(report, "opencl:cpu:0").status == "error"
    assert "atomic add: 7 of 7 wrong" in about(report, "opencl:cpu:0").detail


@pytest.mark.parametrize(
    ("failure", "step"),
    [
        ("self-test: ImportError: libmkl_sycl_dft.so.6: cannot open shared object file", "reinstall the package"),
        ("atomic add: 7 of 7 wrong", "update its driver"),
    ],
)
def test_a_driver_is_at_fault_only_where_no_package_is(
    monkeypatch: pytest.MonkeyPatch, failure: str, step: str
) -> None:
    monkeypatch.setattr(doctor, "selftest", lambda device: SelfTest(device.device, (failure,)))
    assert about(examine(), "opencl:cpu:0").next_step.startswith(step)


def test_a_driver_whose_gpu_is_listed_is_there_whatever_its_file_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "existing_drivers", lambda variables: ["/usr/lib/libpocl.so"])
    monkeypatch.setattr(gpu_drivers, "nodes", lambda *root: [Path("/dev/null")])
    assert about(examine(), gpu_drivers.OPENCL_GPU_DRIVER).status == "warning"
    devices_are(monkeypatch, replace(GPU, device="opencl:gpu:0", backend="opencl"), CPU)
    assert about(examine(), gpu_drivers.OPENCL_GPU_DRIVER).status == "ok"


def test_one_good_device_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    devices_are(monkeypatch, GPU, CPU)
    monkeypatch.setattr(
        doctor, "selftest", lambda device: SelfTest(device.device, () if device == CPU else ("crashed",))
    )
    report = examine()
    assert report.usable
    assert [result.ok for result in report.selftests] == [False, True]


def test_a_broken_environment_is_reported_and_devices_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "missing_libraries", lambda: {"libsycl.so.7": "intel-sycl-rt"})
    monkeypatch.setattr(doctor, "ask", lambda *arguments, **options: pytest.fail("devices were looked for"))
    report = examine()
    assert not report.usable
    assert about(report, "SYCL runtime").status == "error"
    assert about(report, "devices").detail == "not looked for"


def test_a_driver_that_crashes_while_listing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ask", lambda module, arguments, timeout_s: ChildReply(failure="crashed (SIGSEGV)"))
    report = examine()
    assert not report.usable
    assert about(report, "devices").detail == "listing them: crashed (SIGSEGV)"


def test_missing_devices_name_the_packages_that_bring_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    node = tmp_path / "renderD128"
    node.touch()
    monkeypatch.setattr(gpu_drivers, "nodes", lambda *root: [node])
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    monkeypatch.setattr(gpu_drivers, "_loader_problem", lambda loader: ("not found", "install libze1"))
    monkeypatch.setattr(libraries, "find_library", lambda name: None)
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.delenv("OCL_ICD_FILENAMES", raising=False)
    monkeypatch.setattr(doctor, "hiding_variables", lambda environment, driver: "")
    devices_are(monkeypatch)
    report = examine()
    assert not report.usable
    assert "intel-opencl-rt" in about(report, "CPU device").next_step
    for package in ("intel-opencl-icd", "libze1", "intel-level-zero-gpu"):
        assert package in about(report, "GPU").next_step


HIDING = ("ONEAPI_DEVICE_SELECTOR", "OCL_ICD_FILENAMES", "ZE_AFFINITY_MASK")


@pytest.mark.parametrize("name", HIDING)
def test_a_variable_that_hides_a_device_is_named_and_nothing_is_to_be_installed(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for other in (*HIDING, "OCL_ICD_VENDORS"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "level_zero:*")
    devices_are(monkeypatch)
    report = examine()
    assert about(report, "variables").status == "warning"
    step = about(report, "CPU device").next_step
    assert step == f"unset what hides it: {name}=level_zero:*"
    monkeypatch.delenv(name)
    step = about(examine(), "CPU device").next_step
    assert "its driver is there" in step and "install" not in step


def test_the_drivers_path_that_loading_sets_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_FILENAMES", str(libraries.find_library(libraries.CPU_DRIVER_LIBRARY)))
    assert not [finding for finding in examine().findings if finding.title == "variables"]


def test_a_gpu_that_may_not_be_opened_needs_no_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    node = tmp_path / "renderD128"
    node.touch()
    (tmp_path / "nvidia.icd").write_text("libnvidia-opencl.so.1\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(doctor, "hiding_variables", lambda environment, driver: "")
    monkeypatch.setattr(gpu_drivers, "nodes", lambda *root: [node])
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: name)
    monkeypatch.setattr(gpu_drivers, "_loader_problem", lambda loader: (None, ""))
    report = examine()
    assert about(report, "OpenCL GPU driver").detail == "libnvidia-opencl.so.1"
    assert about(report, "GPU").next_step.startswith("sudo usermod -aG ")


@pytest.mark.numba_dpex
def test_numba_that_may_not_compile_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    report = examine()
    assert not report.usable
    assert about(report, "numba").as_line() == (
        "numba: NUMBA_DISABLE_JIT=1 is set, so that no kernel is compiled: unset NUMBA_DISABLE_JIT"
    )


def test_a_current_stack_without_a_compiler_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sycl_headers, "is_current", lambda: True)
    monkeypatch.setattr(libraries, "sycl_library", lambda: tmp_path / "lib" / "libsycl.so.9")
    found = sycl_headers.buffers_finding()
    assert (found.status, "intel-sycl-rt" in found.next_step) == ("warning", True)
    (tmp_path / "include" / "sycl").mkdir(parents=True)
    monkeypatch.setattr(sycl_headers, "COMPILERS", ("no-such-compiler",))
    found = sycl_headers.buffers_finding()
    assert (found.status, "g++" in found.next_step) == ("warning", True)
    monkeypatch.setattr(sycl_headers, "COMPILERS", ("sh",))
    assert sycl_headers.buffers_finding().status == "ok"


def test_a_registered_driver_that_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "old.icd").write_text("/opt/gone/libigdrcl.so\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    finding = about(examine(), "OpenCL driver")
    assert finding.status == "warning"
    assert "/opt/gone/libigdrcl.so" in finding.detail


def test_the_kernel_languages_own_distribution_beside_xebench_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "installed_version", {"numba-sycl": "0.1.0"}.get)
    finding = about(examine(), "numba-sycl")
    assert finding.status == "warning" and "same files" in finding.detail
    monkeypatch.setattr(doctor, "installed_version", {}.get)
    assert not [one for one in examine().findings if one.title == "numba-sycl"]


@pytest.mark.numba_dpex
def test_without_pins_versions_are_not_vouched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "pinned_versions", dict)
    assert about(examine(), "packages").status == "warning"


def test_every_finding_is_one_line_and_every_problem_has_a_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    devices_are(monkeypatch)
    for finding in examine().findings:
        assert "\n" not in finding.as_line()
        assert finding.status == "ok" or finding.next_step


@pytest.mark.device
def test_this_machine_and_every_device_here_computes_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    report = examine()
    assert report.usable
    assert [result.summary for result in report.selftests] == ["ok"] * len(report.devices)
    assert report.devices == tuple(list_devices()), "as it came from the child"
    assert len(report.devices) == len(report.selftests) > 0
    assert {finding.topic for finding in report.findings} >= {"python", "packages", "runtime", "opencl", "devices"}


@pytest.mark.parametrize(("device", "status"), [(GPU, "warning"), (CPU, "ok")])
def test_without_buffers_on_level_zero_the_step_is_named(
    monkeypatch: pytest.MonkeyPatch, device: DeviceInfo, status: str
) -> None:
    monkeypatch.setattr(sycl_headers, "is_current", lambda: False)
    devices_are(monkeypatch, device)
    found = about(examine(), "SYCL buffers")
    assert found.status == status
    assert "--device opencl:gpu" in found.next_step
    assert "the current stack" in found.next_step


def test_mpi_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = about(examine(), "MPI")
    assert (found.status, found.next_step) == ("ok", "pip install mpi4py mpich")
    assert found.detail == "not needed but for patterns with ranks: there is no mpi4py"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(mpi, "_launcher", lambda: Path("/usr/bin/mpiexec"))
    found = about(examine(), "MPI")
    assert (found.status, found.next_step) == ("ok", "")
    assert found.detail.startswith("/usr/bin/mpiexec, mpi4py ")
