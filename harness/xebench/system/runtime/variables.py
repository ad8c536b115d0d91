"""The environment variables that change what is measured."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from numba_sycl.driver_folder import places

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
        own_driver: the environment's own CPU driver, which `numba_sycl` names to the OpenCL loader.
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
