"""The shared libraries that dpctl, dpnp and numba-dpex need, and the drivers of this system: where they are.

The wheels of the pinned stack look for them in places that do not exist (their library path lost its ``$ORIGIN``), so
they are loaded by full path, globally, before the first of these packages is imported. Under conda they are found
anyway, and are the same files. The current stack's wheels find theirs by themselves.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import grp
import importlib.metadata
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from xebench.system.runtime import packages
from xebench.system.runtime.machine import text_of
from xebench.system.runtime.packages import CPU_DRIVER, FIRST_GOOD_DRIVER, Finding, is_current
from xebench.system.runtime.variables import without_spaces

SYCL_LIBRARY = "libsycl.so.7"
OPENCL_LOADER = "libOpenCL.so.1"
CPU_DRIVER_LIBRARY = "libintelocl.so"

# In the order of loading: what is needed comes first. Name, and the package that brings it.
LIBRARIES = (
    ("libintlc.so.5", "intel-cmplr-lib-rt"),
    ("libirng.so", "intel-cmplr-lib-rt"),
    ("libimf.so", "intel-cmplr-lib-rt"),
    ("libsvml.so", "intel-cmplr-lib-rt"),
    ("libtbb.so.12", "tbb"),
    (OPENCL_LOADER, "intel-opencl-rt"),
    (SYCL_LIBRARY, "intel-sycl-rt"),
    ("libmkl_core.so.2", "mkl"),
    ("libmkl_tbb_thread.so.2", "mkl"),
    ("libmkl_intel_ilp64.so.2", "mkl"),
    ("libmkl_sycl_blas.so.4", "onemkl-sycl-blas"),
    ("libmkl_sycl_lapack.so.4", "onemkl-sycl-lapack"),
    ("libmkl_sycl_dft.so.4", "onemkl-sycl-dft"),
    ("libmkl_sycl_rng.so.4", "onemkl-sycl-rng"),
    ("libmkl_sycl_vm.so.4", "onemkl-sycl-vm"),
    ("libmkl_sycl_stats.so.4", "onemkl-sycl-stats"),
)

# libsycl.so opens these itself, from its own folder, when it looks for devices; without them it finds none.
PLUGINS = (
    ("libpi_opencl.so", "intel-sycl-rt"),
    ("libpi_level_zero.so", "intel-cmplr-lib-ur"),
)


def library_folders() -> Iterator[Path]:
    """Folders that may hold the environment's libraries: its own, then those in the packages' metadata."""
    yield Path(sys.prefix) / "lib"
    yield from _recorded_folders()


def find_library(name: str) -> Path | None:
    """Full path of a library of this environment, or None."""
    return next((path for folder in library_folders() if (path := folder / name).exists()), None)


def sycl_library() -> Path | None:
    """Full path of this environment's SYCL runtime, or None."""
    if not is_current():
        return find_library(SYCL_LIBRARY)
    return next((path for folder in library_folders() for path in sorted(folder.glob("libsycl.so.[0-9]*"))), None)


def missing_libraries() -> dict[str, str]:
    """Libraries that neither this environment nor the system has: name to the package that brings it."""
    if is_current():
        return {}
    absent = {
        name: package for name, package in LIBRARIES if find_library(name) is None and open_library(name) is not None
    }
    if find_library(SYCL_LIBRARY) is not None:  # a system's SYCL runtime has its plugins beside it
        absent |= {name: package for name, package in PLUGINS if find_library(name) is None}
    return absent


def load_libraries() -> tuple[str, str] | None:
    """Load all of :data:`LIBRARIES`, where wheels do not find them; the environment's own, else the system's.

    MKL's libraries do not name those that they need, so that all of them must be loaded globally. What is loaded after
    them takes their functions for those of the same name that it has itself, such as numpy its LAPACK. numpy is loaded
    before: Python binds all that an extension module needs when it imports it.

    Returns:
        None, or of the first that cannot be loaded its package and the loader's one-line reason.
    """
    if is_current():
        return None
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        return "numpy", str(error).strip().partition("\n")[0]
    for name, package in LIBRARIES:
        reason = open_library(str(find_library(name) or name))
        if reason is not None:
            return package, reason
    return None


def open_library(path: str) -> str | None:
    """``dlopen(path, RTLD_LAZY | RTLD_GLOBAL)``; returns the loader's reason if it fails.

    ctypes' own opening insists on RTLD_NOW, which MKL's libraries refuse: they need one another in a circle.
    """
    dlopen, dlerror = _dl_functions()
    if dlopen(os.fsencode(path), os.RTLD_LAZY | os.RTLD_GLOBAL):
        return None
    return os.fsdecode(dlerror() or b"cannot load " + os.fsencode(path))


@functools.cache
def _dl_functions() -> tuple[Callable[[bytes, int], int | None], Callable[[], bytes | None]]:
    library = ctypes.CDLL(None)
    if not hasattr(library, "dlopen"):  # glibc before 2.34 keeps it elsewhere
        library = ctypes.CDLL("libdl.so.2")
    library.dlopen.restype, library.dlopen.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int)
    library.dlerror.restype = ctypes.c_char_p
    return library.dlopen, library.dlerror


@functools.cache
def _recorded_folders() -> tuple[Path, ...]:
    """Folders of libraries by the packages' records, for environments such as a venv that sees its base's packages."""
    folders: dict[Path, None] = {}
    for package in dict.fromkeys(package for _, package in LIBRARIES):
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        owned = (Path(os.path.normpath(str(file.locate()))).parent for file in files if ".so" in file.name)
        folders.update(dict.fromkeys(owned))
    return tuple(folders)


ROOT = Path("/")

INTEL = "0x8086"

# Nodes that exist where a kernel driver found a GPU: DRM, WSL, and other vendors'.
_NODES = ("dri/render*", "dxg", "kfd", "nvidia[0-9]*")

LOADER_PACKAGE = "libze1 (in Intel's older repositories: level-zero)"

LEVEL_ZERO_PACKAGE = "intel-level-zero-gpu (newer: libze-intel-gpu1)"

OPENCL_PACKAGE = "intel-opencl-icd"

#: Title of the finding on OpenCL drivers for GPUs.
OPENCL_GPU_DRIVER = "OpenCL GPU driver"

# OpenCL drivers that mostly offer no GPU.
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
            yield Finding("devices", "ok", "GPU", "no device node, so only the CPU device can be measured")
    for node in gpus:
        yield _access(node)


def level_zero_findings(expected: bool, loader: str = "libze_loader.so.1") -> Iterator[Finding]:
    """Findings on Level Zero's loader and Intel's driver for it.

    Args:
        expected: True if this machine has a GPU; without one, missing libraries are no problem.
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
        expected: True if this machine has a GPU.
    """
    for_gpus = [driver for driver in drivers if not any(name in driver for name in _DRIVERS_OF_CPUS)]
    problem = None if for_gpus else "none registered"
    step = f"for an Intel GPU, install {OPENCL_PACKAGE}"
    return _needed_for_gpu(OPENCL_GPU_DRIVER, problem, ", ".join(for_gpus), step, expected=expected, topic="opencl")


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
    if group.isdecimal():  # the host's group has no name in a container
        step = f"start the container with --group-add {group}"
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
