"""What runs here, what does not, and what would mend it. Reports on a broken environment, too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from harness.children.ask import ask
from harness.doctor.self_test import SelfTest, selftest
from harness.runtime import gpu_nodes, libraries, opencl_drivers, packages, pins
from harness.runtime.devices import DeviceInfo
from harness.runtime.findings import Finding
from harness.runtime.loading import cpu_driver_finding, runtime_finding

_LIST_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Report:
    """The result of an examination.

    Attributes:
        findings: everything that was looked at, in the order of the road from Python to the devices.
        devices: the devices found, in order of preference.
        selftests: one for each device, in the same order.
    """

    findings: tuple[Finding, ...]
    devices: tuple[DeviceInfo, ...]
    selftests: tuple[SelfTest, ...]

    @property
    def usable(self) -> bool:
        """Whether there is a device that computes right."""
        return any(result.ok for result in self.selftests)


def examine() -> Report:
    """Look at the whole stack; takes some seconds. Devices are listed and tested in child processes."""
    findings = [packages.python_finding(), *_package_findings(), runtime_finding(), *_opencl_findings()]
    broken = any(finding.status == "error" for finding in findings)
    findings += gpu_nodes.level_zero_findings(expected=bool(gpu_nodes.nodes()))
    findings += gpu_nodes.access_findings()
    if broken:
        step = "mend what is above, then run xebench doctor again"
        findings.append(Finding("devices", "error", "devices", "not looked for", step))
        return Report(tuple(findings), (), ())
    devices, failure = _list()
    results = tuple(selftest(device) for device in devices)
    if failure is not None:
        step = "look at the drivers above; DPCTL_VERBOSITY=error prints reasons"
        findings.append(Finding("devices", "error", "devices", f"listing them: {failure}", step))
    findings += _device_findings(devices, results)
    return Report(tuple(findings), devices, results)


def _package_findings() -> list[Finding]:
    if pins.pinned_versions():
        return packages.package_findings()
    detail = f"the metadata of {pins.DISTRIBUTION} is not found, so versions cannot be compared"
    return [Finding("packages", "warning", "packages", detail, "install the project: make install")]


def _opencl_findings() -> Iterator[Finding]:
    loader = libraries.find_library(libraries.OPENCL_LOADER)
    if loader or libraries.OPENCL_LOADER not in libraries.missing_libraries():
        yield Finding("opencl", "ok", "OpenCL loader", str(loader or "the system's"))
    folders = opencl_drivers.vendor_folders(os.environ)
    drivers = opencl_drivers.registered_drivers(folders)
    for driver in drivers:
        if not opencl_drivers.driver_exists(driver):
            where = ", ".join(map(str, folders))
            detail = f"{driver} is registered in {where}, but does not exist"
            yield Finding("opencl", "warning", "OpenCL driver", detail, "remove or reinstall that driver")
    yield cpu_driver_finding()
    existing = [driver for driver in drivers if opencl_drivers.driver_exists(driver)]
    yield gpu_nodes.opencl_finding(existing, expected=bool(gpu_nodes.nodes()))
    if value := os.environ.get("OCL_ICD_FILENAMES"):
        yield Finding("opencl", "ok", "OCL_ICD_FILENAMES", f"set to {value}, and left alone")


def _list() -> tuple[tuple[DeviceInfo, ...], str | None]:
    answer = ask("harness.doctor", ["devices"], timeout_s=_LIST_TIMEOUT_S)
    if answer.failure is not None:
        return (), answer.failure
    return msgspec.convert(answer.value, tuple[DeviceInfo, ...]), None


def _device_findings(devices: tuple[DeviceInfo, ...], results: tuple[SelfTest, ...]) -> Iterator[Finding]:
    for device, result in zip(devices, results, strict=True):
        about = f"{device.name}, driver {device.driver_version}"
        if result.ok:
            yield Finding("devices", "ok", device.device, f"{about}; self-test passed")
        else:
            step = "update its driver; do not measure on it"
            yield Finding("devices", "error", device.device, f"{about}; self-test: {result.summary}", step)
    if not any(device.device_class == "cpu" for device in devices):
        step = pins.mend_command([packages.CPU_DRIVER])
        yield Finding("devices", "warning", "CPU device", "none found", step)
    if gpu_nodes.nodes() and not any(device.device_class == "gpu" for device in devices):
        detail = "there is a device node, but no driver offers the GPU"
        wanted = ", ".join((gpu_nodes.OPENCL_PACKAGE, gpu_nodes.LOADER_PACKAGE, gpu_nodes.LEVEL_ZERO_PACKAGE))
        yield Finding("devices", "warning", "GPU", detail, f"for an Intel GPU, install {wanted}")
