"""Find out what runs here, what does not, and how to mend it; a broken environment is reported, too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from xebench.measuring.doctor.self_test import SelfTest, selftest
from xebench.measuring.doctor.stacks import stack_findings
from xebench.system.children.ask import ask
from xebench.system.children.programs import Program
from xebench.system.runtime import gpu_nodes, libraries, opencl_drivers, packages, pins
from xebench.system.runtime.devices import DeviceInfo
from xebench.system.runtime.findings import Finding
from xebench.system.runtime.loading import compiler_finding, cpu_driver_finding, runtime_finding
from xebench.system.runtime.variables import hiding_variables

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
        """True if there is a device that computes right."""
        return any(result.ok for result in self.selftests)


def examine() -> Report:
    """Look at the whole stack; takes some seconds. Devices are listed and tested in child processes."""
    findings = [
        packages.python_finding(),
        *stack_findings(),
        *_package_findings(),
        compiler_finding(),
        runtime_finding(),
    ]
    findings += _opencl_findings()
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
    findings += _device_findings(devices, results, findings)
    return Report(tuple(findings), devices, results)


def _package_findings() -> list[Finding]:
    if pins.pinned_versions():
        findings = packages.package_findings()
        wrong = [finding for finding in findings if finding.status == "error"]
        return [
            replace(finding, next_step=packages.mend_command(wrong)) if finding in wrong else finding
            for finding in findings
        ]
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
    existing = opencl_drivers.existing_drivers(os.environ)
    yield gpu_nodes.opencl_finding(existing, expected=bool(gpu_nodes.nodes()))


def _list() -> tuple[tuple[DeviceInfo, ...], str | None]:
    answer = ask(Program.DOCTOR, ["devices"], timeout_s=_LIST_TIMEOUT_S)
    if answer.failure is not None:
        return (), answer.failure
    return msgspec.convert(answer.value, tuple[DeviceInfo, ...]), None


def _device_findings(
    devices: tuple[DeviceInfo, ...], results: tuple[SelfTest, ...], before: list[Finding]
) -> Iterator[Finding]:
    """Findings on each device, and on those that one would expect.

    Args:
        devices: those that there are.
        results: their self-tests.
        before: what was found on the road to them.
    """
    for device, result in zip(devices, results, strict=True):
        about = f"{device.name}, driver {device.driver_version}"
        if result.ok:
            yield Finding("devices", "ok", device.device, f"{about}; self-test passed")
        else:
            step = "update its driver; do not measure on it"
            yield Finding("devices", "error", device.device, f"{about}; self-test: {result.summary}", step)
    classes = {device.device_class for device in devices}
    hiding = hiding_variables(os.environ, libraries.find_library(libraries.CPU_DRIVER_LIBRARY))
    if hiding:
        yield Finding("devices", "warning", "variables", f"{hiding} may hide devices", "unset what is not meant to")
    if "cpu" not in classes:
        yield Finding("devices", "warning", "CPU device", "none found", _next_step(hiding, before, ("CPU driver",)))
    if gpu_nodes.nodes() and "gpu" not in classes:
        detail = "there is a device node, but no driver offers the GPU"
        drivers = ("OpenCL GPU driver", "Level Zero loader", "Level Zero GPU driver", "GPU")
        yield Finding("devices", "warning", "GPU", detail, _next_step(hiding, before, drivers))


def _next_step(hiding: str, before: list[Finding], needed: tuple[str, ...]) -> str:
    """The next step for a device that is not offered; it installs nothing that is there."""
    if hiding:
        return f"unset what hides it: {hiding}"
    lacking = [finding for finding in before if finding.title in needed and finding.status != "ok"]
    steps = dict.fromkeys(finding.next_step for finding in lacking)
    return "; ".join(steps) or "its driver is there: DPCTL_VERBOSITY=error and SYCL_PI_TRACE=1 show why it offers none"
