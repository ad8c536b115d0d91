"""The environment variables that change what is measured, and folders on disk that drivers depend on.

The driver looks for its parts beside itself, by a path that it takes from ``/proc/self/maps`` up to the first space.
What stands there is where links lead, so a symbolic link does not help: the folder has a hard link to the driver (a
copy, of 100 MB, where the environment is on another file system), and symbolic links to all that lies beside it.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from xebench.errors import BrokenEnvironment
from xebench.system.disk_cache import default_folder


def without_spaces(driver: Path) -> Path:
    """The driver by a path without spaces: its own, or one in a folder that is made for it.

    Raises:
        BrokenEnvironment: no such folder can be made.
    """
    reason = ""
    for place in places(driver):
        try:
            if place != driver:
                _make(place, driver)
            return place
        except OSError as error:
            reason = f" ({error.strerror}: {place.parent})"
    raise BrokenEnvironment(
        f"Intel's CPU driver cannot work in {driver.parent}, since the path has a space, and there is no other folder "
        f"for it{reason}: move the environment to a path without spaces"
    )


def places(driver: Path) -> list[Path]:
    """Paths from which the driver may be loaded: its own, else files in the user's cache and the temporary folder."""
    if not _has_space(driver):
        return [driver]
    state = driver.stat()
    key = f"{driver}|{state.st_size}|{state.st_mtime_ns}"
    name = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()[:16]
    folders = default_folder("driver"), Path(tempfile.gettempdir()) / f"xebench-{os.getuid()}"
    return [folder / name / driver.name for folder in folders if not _has_space(folder)]


def _has_space(path: Path) -> bool:
    return any(map(str.isspace, str(path)))


def _make(place: Path, driver: Path) -> None:
    """The folder of a place, unless it is there: it appears whole, within a folder of this user.

    Raises:
        OSError: it cannot be made.
    """
    above = place.parent.parent
    above.mkdir(mode=0o700, parents=True, exist_ok=True)
    if above.lstat().st_uid != os.getuid():
        raise PermissionError(0, "it belongs to another user")
    if place.exists():
        return
    with tempfile.TemporaryDirectory(dir=above, ignore_cleanup_errors=True) as name:
        folder = Path(name) / "new"
        folder.mkdir()
        for beside in driver.parent.iterdir():
            (folder / beside.name).symlink_to(beside)
        own = folder / driver.name
        own.unlink()
        try:
            own.hardlink_to(driver.resolve())
        except OSError:
            shutil.copy(driver, own)
        with contextlib.suppress(FileExistsError):  # another process was faster
            folder.rename(place.parent)


# Families of variables, by what reads them. Most occur in the guide.
PREFIXES = (
    *("ZE_", "ZEX_", "ZES_", "ZET_", "ONEAPI_", "SYCL_", "UR_", "XPTI_"),  # SYCL runtime and Level Zero
    *("NEO", "IGC_"),  # Intel's GPU driver and compiler
    *("OCL_", "OPENCL_", "CL_CONFIG_", "POCL_"),  # OpenCL's loader and CPU drivers
    *("LIBOMPTARGET_", "OMP_", "KMP_", "TBB_", "DPCPP_"),  # OpenMP, threads of CPU devices
    *("MKL_", "NUMBA_", "DPCTL_", "DPNP_", "OPENBLAS_"),  # libraries
    *("I_MPI_", "AMPLXE_"),  # MPI, VTune
)

# Keys of Intel's GPU driver without a prefix, and what decides which libraries are loaded.
NAMES = frozenset(
    {
        "CFESingleSliceDispatchCCSMode",
        "CreateMultipleRootDevices",
        "CreateMultipleSubDevices",
        "EnableImplicitScaling",
        "HardwareInfoOverride",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "MALLOC_ARENA_MAX",
        "OverrideGpuAddressSpace",
        "PrintDebugMessages",
        "ProductFamilyOverride",
        "SetCommandStreamReceiver",
        "XEBENCH_NARROW",
    }
)


# What can hide a device: by choosing devices, or by choosing drivers.
HIDING = (
    *("ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER", "SYCL_DEVICE_ALLOWLIST", "ZE_AFFINITY_MASK"),
    *("OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"),
)


def hiding_variables(environment: Mapping[str, str], own_driver: Path | None) -> str:
    """The variables of the user that may hide devices, as ``NAME=value and NAME=value``; empty if there is none.

    Args:
        environment: the variables of this process.
        own_driver: the environment's own CPU driver, which `xebench.system.runtime.load` names to the OpenCL loader.
    """
    found = {name: environment[name] for name in HIDING if environment.get(name)}
    own = [] if own_driver is None else [str(place) for place in places(own_driver)]
    return " and ".join(f"{name}={value}" for name, value in found.items() if value not in own)


def relevant_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that are set and matter to a measurement, sorted by name.

    After :func:`xebench.system.runtime.load` those that it has set are among them, since they are in force.
    """
    environment = os.environ if environment is None else environment
    names = (name for name in environment if name in NAMES or name.startswith(PREFIXES))
    return {name: environment[name] for name in sorted(names)}


def narrow_switch() -> str:
    """``XEBENCH_NARROW``: where indices of kernels are narrowed to 32 bits.

    On "gpu"s, the default; "on", everywhere; "check", everywhere, each launch compared with one in 64 bits; or "off".
    """
    return os.environ.get("XEBENCH_NARROW") or "gpu"


def set_variables(values: Mapping[str, str]) -> None:
    """Set variables of this process and of those that it starts; libraries read most of them when they are loaded."""
    os.environ.update(values)


def kept_builds() -> frozenset[str]:
    """Names of their files."""
    above = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("NEO_CACHE_DIR") or Path(above) / "neo_compiler_cache")
    return frozenset(path.name for path in folder.glob("*_cache"))


#: Bytes for each text of MPI's tool interface: names, descriptions and values.
_ROOM: Final = 1 << 14


def control_variable(name: str) -> int | None:
    """The value that this process's MPI has for a variable that is a whole number; None if it reads no such variable.

    MPICH and Intel's MPI describe their settings by MPI's tool interface (``MPI_T``), and Intel's says beside each
    which variable sets it. So what a newer library has renamed or dropped is found out.
    """
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None:
        return None
    library, level = ctypes.CDLL(mpi.__file__), ctypes.c_int()
    if library.MPI_T_init_thread(0, ctypes.byref(level)):
        return None
    try:
        return _find(library, name)
    finally:
        library.MPI_T_finalize()


def _find(library: ctypes.CDLL, name: str) -> int | None:
    number = ctypes.c_int()
    library.MPI_T_cvar_get_num(ctypes.byref(number))
    own_name, description = ctypes.create_string_buffer(_ROOM), ctypes.create_string_buffer(_ROOM)
    verbosity, bind, scope = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    datatype, enumeration = ctypes.c_void_p(), ctypes.c_void_p()
    for index in range(number.value):
        lengths = [ctypes.byref(ctypes.c_int(_ROOM)) for _ in range(2)]
        about = map(ctypes.byref, (verbosity, datatype, enumeration))
        places = ctypes.byref(bind), ctypes.byref(scope)
        library.MPI_T_cvar_get_info(index, own_name, lengths[0], *about, description, lengths[1], *places)
        if re.search(rf"@Alias:# {name}\b", description.value.decode(errors="replace")):
            return _value(library, index)
    return None


def _value(library: ctypes.CDLL, index: int) -> int | None:
    handle, count = ctypes.c_void_p(), ctypes.c_int()
    library.MPI_T_cvar_handle_alloc(index, None, ctypes.byref(handle), ctypes.byref(count))
    value = ctypes.create_string_buffer(_ROOM)  # a text has up to its count of characters
    library.MPI_T_cvar_read(handle, value)
    library.MPI_T_cvar_handle_free(ctypes.byref(handle))
    return int.from_bytes(value.raw[:4], sys.byteorder, signed=True) if count.value == 1 else None
