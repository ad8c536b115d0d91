"""The environment variables that change what is measured, for the record of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from xebench.system.runtime.spaces import places

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
    """``XEBENCH_NARROW``: where indices of kernels are narrowed to 32 bits: on "gpu"s, the default, "on" or "off"."""
    return os.environ.get("XEBENCH_NARROW") or "gpu"


def set_variables(values: Mapping[str, str]) -> None:
    """Set variables of this process and of those that it starts; libraries read most of them when they are loaded."""
    os.environ.update(values)
