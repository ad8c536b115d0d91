"""The shared libraries that dpctl, dpnp and numba-dpex need, and the drivers of this system: where they are.

The wheels of the pinned stack look for them in places that do not exist (their library path lost its ``$ORIGIN``), so
they are loaded by full path, globally, before the first of these packages is imported. Under conda they are found
anyway, and are the same files. The current stack's wheels find theirs by themselves.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from numba_sycl import stacks
from numba_sycl.driver_folder import without_spaces
from numba_sycl.stacks import CPU_DRIVER, FIRST_GOOD_DRIVER, is_current

SYCL_LIBRARY = "libsycl.so.7"
OPENCL_LOADER = "libOpenCL.so.1"
CPU_DRIVER_LIBRARY = "libintelocl.so"
CPUINFO = Path("/proc/cpuinfo")

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


def text_of(file: Path) -> str:
    """The text of a file without the space around it; empty if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


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


SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")


def vendor_folders(environment: Mapping[str, str]) -> list[Path]:
    """Folders of ``*.icd`` files that the OpenCL loader reads: the system's, and conda's own.

    ``OCL_ICD_VENDORS`` may name another folder, or one such file.
    """
    folders = [Path(environment.get("OCL_ICD_VENDORS") or SYSTEM_VENDORS)]
    if stacks.in_conda():
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
    version = match[1] if match else (stacks.installed_version(CPU_DRIVER) or "").partition(".")[0]
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
