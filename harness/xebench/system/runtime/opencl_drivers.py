"""OpenCL's drivers: which are registered on this system, and how the environment's CPU driver joins them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from xebench.system.runtime import pins
from xebench.system.runtime.files import text_of
from xebench.system.runtime.libraries import CPU_DRIVER_LIBRARY
from xebench.system.runtime.packages import CPU_DRIVER, FIRST_GOOD_DRIVER
from xebench.system.runtime.spaces import without_spaces

SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")


def vendor_folders(environment: Mapping[str, str]) -> list[Path]:
    """Folders of ``*.icd`` files that the OpenCL loader reads: the system's, and conda's own.

    ``OCL_ICD_VENDORS`` may name another folder, or one such file.
    """
    folders = [Path(environment.get("OCL_ICD_VENDORS") or SYSTEM_VENDORS)]
    if pins.in_conda():
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
    version = match[1] if match else (pins.installed_version(CPU_DRIVER) or "").partition(".")[0]
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
