"""Examine this machine: what works, what does not, and how to repair it. Also reports on a broken environment.

Seen in practice: a CPU driver that did not recognise its host turned int64 into wrong float32, and a GPU driver
without hardware reported every kernel as done and ran none.

A bad driver may abort or hang, so a child process lists and tests devices: ``python -m xebench.doctor.examination
devices``, or ``... self-test FILTER``, prints the answer as JSON.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import msgspec

from numba_sycl import libraries
from numba_sycl.stacks import Stack, in_conda, installed_version, is_current, stack
from xebench.errors import BrokenEnvironment, XebenchError
from xebench.system.children import Program
from xebench.system.children.process import answer as answer_parent
from xebench.system.children.process import ask
from xebench.system.runtime import gpu_drivers, list_devices, load, packages
from xebench.system.runtime.devices import DeviceInfo, other_gpus
from xebench.system.runtime.loading import compiler_finding, cpu_driver_finding, runtime_finding
from xebench.system.runtime.mpi import mpi_finding
from xebench.system.runtime.packages import SETUP, Finding
from xebench.system.runtime.sycl_headers import BUFFERS, buffers_finding
from xebench.system.runtime.variables import hiding_variables


def install_pinned(say: Callable[[str], None]) -> None:
    """Install exactly what the lock names, by pip without its resolver, which accepts no such set.

    Args:
        say: called with each step before it is done, and with the result.

    Raises:
        XebenchError: this environment cannot have the pinned set, or pip failed.
    """
    _check_environment()
    say(f"the pinned set replaces the same packages in {sys.prefix}: {shlex.join(_command())}")
    status = subprocess.run(_command(), check=False).returncode
    if status:
        raise BrokenEnvironment(f"pip ended with status {status}, see above: run {packages.SETUP} again")
    say("installed: check it with xebench doctor")


def _command() -> list[str]:
    options = ("--no-deps", "--require-hashes", "--disable-pip-version-check")
    return [sys.executable, "-m", "pip", "install", *options, "-r", str(packages.lock_file())]


def _check_environment() -> None:
    if in_conda():
        step = "run conda env update --file conda-env.yml, then the line of pip in it"
        raise XebenchError(f"pip's pinned set is not for conda: {step}")
    wanted, running = (".".join(map(str, version)) for version in (packages.FIRST_PYTHON, sys.version_info[:2]))
    if not packages.FIRST_PYTHON <= sys.version_info[:2] < packages.BEYOND_PINNED:
        step = f"install xebench into a virtual environment of Python {wanted} and run {packages.SETUP} there"
        raise XebenchError(f"the pinned set needs Python {wanted}, this is {running}: {step}")
    if sys.prefix == sys.base_prefix:
        step = f"make one with {sys.executable} -m venv, install xebench into it and run {packages.SETUP} there"
        raise XebenchError(f"{sys.prefix} is no virtual environment, and others use its packages: {step}")
    if importlib.util.find_spec("pip") is None:
        raise XebenchError(f"{sys.prefix} has no pip: run {shlex.quote(sys.executable)} -m ensurepip")


_ABOUT: Final = {
    Stack.PINNED: "numba-dpex compiles kernels, on Python 3.11",
    Stack.CURRENT: "xebench's own target of numba compiles kernels, with today's dpctl, on Python 3.11 or later",
}

_HOW_TO_HAVE: Final = {
    Stack.PINNED: f"to have numba-dpex too, run {SETUP} in a virtual environment with Python 3.11",
    Stack.CURRENT: "to have it too, install xebench by plain pip into another virtual environment",
}


def stack_findings() -> Iterator[Finding]:
    """The stack in use, then the other one; that it is absent is no problem."""
    used = stack()
    yield Finding("stack", "ok", str(used), f"in use: {_ABOUT[used]}")
    (other,) = set(Stack) - {used}
    yield Finding("stack", "ok", str(other), f"not installed, nor needed: {_ABOUT[other]}", _HOW_TO_HAVE[other])


#: Longest wait in seconds; compilers are slow in their first run.
TIMEOUT_S: Final = 120.0


@dataclass(frozen=True)
class SelfTest:
    """Result of a device's self-test.

    Attributes:
        device: SYCL filter string.
        failures: failures, one line each; empty if the device computes correctly.
    """

    device: str
    failures: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if the device may be used."""
        return not self.failures

    @property
    def summary(self) -> str:
        """``ok`` or the reasons, as column ``selftest`` of table ``devices`` keeps it."""
        return "; ".join(self.failures) or "ok"


def selftest(device: str | DeviceInfo) -> SelfTest:
    """Test a device in a child process; a crash or a hang is a failure like any other.

    Args:
        device: the device, or its SYCL filter string.
    """
    name = device if isinstance(device, str) else device.device
    answer = ask(Program.DOCTOR, ["self-test", name], timeout_s=TIMEOUT_S)
    if answer.failure is not None:
        return SelfTest(name, (f"self-test: {answer.failure}",))
    return SelfTest(name, tuple(answer.value))


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


def cure_of(failure: str) -> str:
    """The next step after a failed self-test: the driver is at fault unless a library of a package cannot be loaded."""
    names_a_package = any(error in failure for error in ("ImportError", "ModuleNotFoundError", "cannot open shared"))
    return "reinstall the package of what cannot be loaded" if names_a_package else "update its driver"


def examine() -> Report:
    """Look at the whole stack; takes some seconds. Devices are listed and tested in child processes."""
    findings = [
        packages.python_finding(),
        *stack_findings(),
        *_package_findings(),
        *_double_findings(),
        compiler_finding(),
        runtime_finding(),
        buffers_finding(),
        mpi_finding(),
    ]
    findings += _opencl_findings()
    broken = any(finding.status == "error" for finding in findings)
    findings += gpu_drivers.level_zero_findings(expected=bool(gpu_drivers.nodes()))
    findings += gpu_drivers.access_findings()
    if broken:
        step = "fix the problems above, then run xebench doctor again"
        findings.append(Finding("devices", "error", "devices", "not looked for", step))
        return Report(tuple(findings), (), ())
    devices, failure = _list()
    results = tuple(selftest(device) for device in devices)
    if failure is not None:
        step = "check the drivers above; DPCTL_VERBOSITY=error prints reasons"
        findings.append(Finding("devices", "error", "devices", f"listing them: {failure}", step))
    findings = [_as_needed(_as_offered(finding, devices), devices) for finding in findings]
    findings += _device_findings(devices, results, findings)
    if devices and (notice := other_gpus(devices[0], devices)):
        findings.append(Finding("devices", "ok", "GPUs", notice))
    return Report(tuple(findings), devices, results)


def _as_offered(finding: Finding, devices: Sequence[DeviceInfo]) -> Finding:
    """The finding on OpenCL drivers for GPUs: whatever the file of one is called, its devices show what it is."""
    gpu = next((device for device in devices if device.device.startswith("opencl:gpu")), None)
    if finding.title != gpu_drivers.OPENCL_GPU_DRIVER or finding.status == "ok" or gpu is None:
        return finding
    return Finding(finding.topic, "ok", finding.title, f"{gpu.driver_version}, which offers {gpu.name}")


def _as_needed(finding: Finding, devices: Sequence[DeviceInfo]) -> Finding:
    """The finding on buffers: their lack on Level Zero is a problem where such a device would be used."""
    if finding.title == BUFFERS and finding.next_step and devices and devices[0].device.startswith("level_zero"):
        return replace(finding, status="warning")
    return finding


def _double_findings() -> Iterator[Finding]:
    """The kernel language's own distribution beside xebench: both have the same files."""
    if version := installed_version("numba-sycl"):
        detail = f"{version} is installed beside xebench, which has the same files: uninstalling one breaks the other"
        yield Finding("packages", "warning", "numba-sycl", detail, "uninstall numba-sycl, then install xebench again")


def _package_findings() -> list[Finding]:
    if is_current() or packages.pinned_versions():
        findings = packages.package_findings()
        wrong = [finding for finding in findings if finding.status == "error"]
        return [
            replace(finding, next_step=packages.mend_findings(wrong)) if finding in wrong else finding
            for finding in findings
        ]
    detail = f"there is no {packages.lock_file()}, so versions cannot be compared"
    return [Finding("packages", "warning", "packages", detail, "install xebench again")]


def _opencl_findings() -> Iterator[Finding]:
    loader = libraries.find_library(libraries.OPENCL_LOADER)
    if loader or libraries.OPENCL_LOADER not in libraries.missing_libraries():
        yield Finding("opencl", "ok", "OpenCL loader", str(loader or "the system's"))
    folders = libraries.vendor_folders(os.environ)
    drivers = libraries.registered_drivers(folders)
    for driver in drivers:
        if not libraries.driver_exists(driver):
            where = ", ".join(map(str, folders))
            detail = f"{driver} is registered in {where}, but does not exist"
            yield Finding("opencl", "warning", "OpenCL driver", detail, "remove or reinstall that driver")
    yield cpu_driver_finding()
    existing = libraries.existing_drivers(os.environ)
    yield gpu_drivers.opencl_finding(existing, expected=bool(gpu_drivers.nodes()))


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
        before: the findings of the steps before the devices.
    """
    for device, result in zip(devices, results, strict=True):
        about = f"{device.name}, driver {device.driver_version}"
        if result.ok:
            yield Finding("devices", "ok", device.device, f"{about}; self-test passed")
        else:
            step = f"{cure_of(result.summary)}; do not measure on it"
            yield Finding("devices", "error", device.device, f"{about}; self-test: {result.summary}", step)
    classes = {device.device_class for device in devices}
    hiding = hiding_variables(os.environ, libraries.find_library(libraries.CPU_DRIVER_LIBRARY))
    if hiding:
        yield Finding("devices", "warning", "variables", f"{hiding} may hide devices", "unset unintended ones")
    if "cpu" not in classes:
        yield Finding("devices", "warning", "CPU device", "none found", _next_step(hiding, before, ("CPU driver",)))
    if gpu_drivers.nodes() and "gpu" not in classes:
        detail = "there is a device node, but no driver offers the GPU"
        drivers = (gpu_drivers.OPENCL_GPU_DRIVER, "Level Zero loader", "Level Zero GPU driver", "GPU")
        yield Finding("devices", "warning", "GPU", detail, _next_step(hiding, before, drivers))


def _next_step(hiding: str, before: list[Finding], needed: tuple[str, ...]) -> str:
    """The next step for a device that is not offered; it installs nothing that is there."""
    if hiding:
        return f"unset what hides it: {hiding}"
    lacking = [finding for finding in before if finding.title in needed and finding.status != "ok"]
    steps = dict.fromkeys(finding.next_step for finding in lacking)
    return "; ".join(steps) or "its driver is there: DPCTL_VERBOSITY=error and SYCL_PI_TRACE=1 show why it offers none"


def main(arguments: list[str]) -> list[Any]:
    """Answer in the child process: all devices that can be measured, or what one device computes wrong."""
    request, *operands = arguments
    if request != "self-test":
        return [asdict(device) for device in list_devices()]
    load()
    from xebench.doctor.self_test import run_checks

    return run_checks(*operands)


if __name__ == "__main__":
    answer_parent(main)
