"""Which drivers this system has: GPUs' device nodes and packages, and OpenCL's registered drivers. Files only."""

from __future__ import annotations

import ctypes
import ctypes.util
import grp
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from xebench.system.runtime import packages
from xebench.system.runtime.libraries import CPU_DRIVER_LIBRARY
from xebench.system.runtime.machine import text_of
from xebench.system.runtime.packages import CPU_DRIVER, FIRST_GOOD_DRIVER, Finding
from xebench.system.runtime.variables import without_spaces

ROOT = Path("/")

INTEL = "0x8086"

# Nodes that exist where a kernel driver found a GPU: DRM, WSL, and other vendors'.
_NODES = ("dri/render*", "dxg", "kfd", "nvidia[0-9]*")

LOADER_PACKAGE = "libze1 (in Intel's older repositories: level-zero)"

LEVEL_ZERO_PACKAGE = "intel-level-zero-gpu (newer: libze-intel-gpu1)"

OPENCL_PACKAGE = "intel-opencl-icd"

# OpenCL drivers that offer no GPU.
_DRIVERS_OF_CPUS = ("libintelocl", "libpocl")

# libsycl's Level Zero plugin needs a loader that has it; Debian 12's 1.8.12 does not.
_NEWEST_FUNCTION = "zeCommandListHostSynchronize"


def nodes(root: Path = ROOT) -> list[Path]:
    """Device nodes that say that this machine has a GPU."""
    return sorted(path for pattern in _NODES for path in (root / "dev").glob(pattern))


def intel_gpus_on_bus(root: Path = ROOT) -> list[str]:
    """PCI addresses of Intel display controllers, whether a driver serves them or not."""
    return [
        device.name
        for device in sorted((root / "sys/bus/pci/devices").glob("*"))
        if text_of(device / "vendor") == INTEL and text_of(device / "class").startswith("0x03")
    ]


def access_findings(root: Path = ROOT) -> Iterator[Finding]:
    """Findings on an Intel GPU: is it there, and may this user open its render node?"""
    gpus = nodes(root)
    on_bus = intel_gpus_on_bus(root)
    if not gpus:
        if on_bus:
            detail = f"an Intel GPU is on the PCI bus ({', '.join(on_bus)}), but there is no /dev/dri/render*"
            step = "load the kernel driver i915 or xe; start a container with --device /dev/dri"
            yield Finding("devices", "warning", "GPU", detail, step)
        else:
            yield Finding("devices", "ok", "GPU", "no device node, so the CPU device is what is measured")
    for node in gpus:
        yield _access(node)


def level_zero_findings(expected: bool, loader: str = "libze_loader.so.1") -> Iterator[Finding]:
    """Findings on Level Zero's loader and Intel's driver for it.

    Args:
        expected: whether this machine has a GPU; without one, nothing is wrong if they are missing.
        loader: the library to look for.
    """
    problem, step = _loader_problem(loader)
    yield _needed_for_gpu("Level Zero loader", problem, loader, step, expected=expected)
    driver = ctypes.util.find_library("ze_intel_gpu")
    problem = None if driver else "libze_intel_gpu.so.1 not found"
    step = f"for an Intel GPU, install {LEVEL_ZERO_PACKAGE}"
    yield _needed_for_gpu("Level Zero GPU driver", problem, driver or "", step, expected=expected)


def opencl_finding(drivers: Sequence[str], expected: bool) -> Finding:
    """A finding on registered OpenCL drivers for GPUs: Intel's, or another, whose devices are tested like any.

    Args:
        drivers: the registered drivers that exist.
        expected: whether this machine has a GPU.
    """
    for_gpus = [driver for driver in drivers if not any(name in driver for name in _DRIVERS_OF_CPUS)]
    problem = None if for_gpus else "none registered"
    step = f"for an Intel GPU, install {OPENCL_PACKAGE}"
    return _needed_for_gpu("OpenCL GPU driver", problem, ", ".join(for_gpus), step, expected=expected, topic="opencl")


def _needed_for_gpu(
    title: str, problem: str | None, present: str, step: str, *, expected: bool, topic: str = "level zero"
) -> Finding:
    if problem is None:
        return Finding(topic, "ok", title, present)
    return Finding(topic, "warning" if expected else "ok", title, problem, step)


def _loader_problem(loader: str) -> tuple[str | None, str]:
    """The fault of Level Zero's loader, and what to do."""
    try:
        library = ctypes.CDLL(loader)
    except OSError:
        return f"{loader} not found", f"for an Intel GPU, install {LOADER_PACKAGE}"
    if not hasattr(library, _NEWEST_FUNCTION):
        return (
            f"{loader} is too old for this SYCL runtime",
            f"for an Intel GPU, install a newer {LOADER_PACKAGE}",
        )
    return None, ""


def _access(node: Path) -> Finding:
    if os.access(node, os.R_OK | os.W_OK):
        return Finding("devices", "ok", "GPU", f"{node} may be opened")
    group = _group_of(node)
    step = f"sudo usermod -aG {group} $USER, then log in again"
    return Finding("devices", "warning", "GPU", f"{node} may not be opened: you are not in group {group}", step)


def _group_of(node: Path) -> str:
    number = node.stat().st_gid
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:  # common in containers: the host's group has no name here
        return str(number)


SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")


def vendor_folders(environment: Mapping[str, str]) -> list[Path]:
    """Folders of ``*.icd`` files that the OpenCL loader reads: the system's, and conda's own.

    ``OCL_ICD_VENDORS`` may name another folder, or one such file.
    """
    folders = [Path(environment.get("OCL_ICD_VENDORS") or SYSTEM_VENDORS)]
    if packages.in_conda():
        folders.append(Path(sys.prefix) / "etc" / "OpenCL" / "vendors")
    return folders


def registered_drivers(folders: Iterable[Path]) -> list[str]:
    """The driver libraries named by the ``*.icd`` files, as they are written there."""
    files = (file for folder in folders for file in ([folder] if folder.is_file() else sorted(folder.glob("*.icd"))))
    return [line.strip() for file in files for line in text_of(file).splitlines() if line.strip()]


def existing_drivers(environment: Mapping[str, str]) -> list[str]:
    """The driver libraries that the OpenCL loader will find: those that are registered, and ``OCL_ICD_FILENAMES``."""
    named = [driver for driver in environment.get("OCL_ICD_FILENAMES", "").split(":") if driver]
    drivers = dict.fromkeys([*registered_drivers(vendor_folders(environment)), *named])
    return [driver for driver in drivers if driver_exists(driver)]


def driver_exists(driver: str) -> bool:
    """True if a registered driver is there; one named without a folder is the loader's to find."""
    return not driver.startswith("/") or Path(driver).exists()


def cpu_driver_registered(drivers: Iterable[str]) -> bool:
    """True if a registered driver is Intel's CPU driver (of a system-wide oneAPI, for example)."""
    return any(Path(driver).name.startswith(CPU_DRIVER_LIBRARY) and driver_exists(driver) for driver in drivers)


def driver_settings(environment: Mapping[str, str], cpu_driver: Path | None, cpuinfo: str) -> dict[str, str]:
    """Environment variables that make the CPU driver usable; none that the user has set already.

    Args:
        environment: the variables of this process.
        cpu_driver: the environment's own CPU driver.
        cpuinfo: text of ``/proc/cpuinfo``.

    Raises:
        BrokenEnvironment: the driver lies where it cannot work.
    """
    if cpu_driver is None:
        return {}
    settings = {}
    # The loader adds these drivers to the registered ones, so a system's GPU driver stays visible.
    registered = registered_drivers(vendor_folders(environment))
    if "OCL_ICD_FILENAMES" not in environment and not cpu_driver_registered(registered):
        settings["OCL_ICD_FILENAMES"] = str(without_spaces(cpu_driver))
    series = cpu_driver_series(cpu_driver)
    if series is not None and series < FIRST_GOOD_DRIVER and (architecture := _target_architecture(cpuinfo)):
        settings["CL_CONFIG_CPU_TARGET_ARCH"] = architecture
    return {name: value for name, value in settings.items() if name not in environment}


def cpu_driver_series(cpu_driver: Path) -> int | None:
    """Release series of the CPU driver: 2024, 2026; from its file name, else from the package's version."""
    match = re.search(r"\.so\.(\d{4})\.", cpu_driver.resolve().name)
    version = match[1] if match else (packages.installed_version(CPU_DRIVER) or "").partition(".")[0]
    return int(version) if version.isdigit() else None


def _target_architecture(cpuinfo: str) -> str | None:
    """The instruction set to name to a CPU driver that guesses wrong on processors that are not Intel's."""
    if "GenuineIntel" in cpuinfo:
        return None
    match = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    flags = set(match[1].split()) if match else set()
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"} <= flags:
        return "skx"
    if {"avx2", "fma", "bmi2"} <= flags:
        return "core-avx2"
    return "corei7-avx" if "avx" in flags else "corei7"
