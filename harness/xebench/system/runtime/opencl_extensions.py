"""Extensions that kernels in OpenCL C may need beyond its standard, and those that a device has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from xebench.system.runtime import opencl_library

if TYPE_CHECKING:
    from xebench.system.sycl_types import Device

_EXTENSIONS = 0x1030

#: Requirement to the OpenCL extension that grants it, and what that is.
EXTENSIONS: Final[Mapping[str, tuple[str, str]]] = {
    "intel_subgroups": ("cl_intel_subgroups", "Intel's sub-group functions"),
    "intel_subgroups_short": ("cl_intel_subgroups_short", "Intel's sub-group functions on 16 bits"),
    "intel_subgroups_char": ("cl_intel_subgroups_char", "Intel's sub-group functions on 8 bits"),
    "intel_subgroups_long": ("cl_intel_subgroups_long", "Intel's sub-group functions on 64 bits"),
    "intel_required_subgroup_size": ("cl_intel_required_subgroup_size", "kernels that require a sub-group size"),
    "intel_local_block_io": ("cl_intel_subgroup_local_block_io", "sub-group block access to local memory"),
    "intel_2d_block_io": ("cl_intel_subgroup_2d_block_io", "two-dimensional sub-group block access"),
    "xmx": ("cl_intel_subgroup_matrix_multiply_accumulate", "matrix engine that OpenCL C reaches"),
    "khr_subgroups": ("cl_khr_subgroups", "sub-group functions of OpenCL"),
    "khr_subgroup_shuffle": ("cl_khr_subgroup_shuffle", "sub-group shuffles of OpenCL"),
    "integer_dot_product": ("cl_khr_integer_dot_product", "integer dot products"),
    "float_atomics": ("cl_ext_float_atomics", "floating-point atomics of OpenCL C"),
}

#: What every GPU's compiler of Intel takes, where no OpenCL driver tells: Level Zero does not know the names.
ON_LEVEL_ZERO: Final = frozenset(
    ("intel_subgroups", "intel_subgroups_short", "intel_required_subgroup_size", "khr_subgroups")
)


def extensions_of(device: Device) -> tuple[str, ...]:
    """Those of `EXTENSIONS` that a ``dpctl.SyclDevice`` has, by OpenCL's names.

    A device of Level Zero is looked up by its name: Intel's OpenCL driver offers it, too, where that is installed.
    """
    driver_version = device.driver_version if device.backend.name == "opencl" else None
    try:
        library = opencl_library.open_library()
        handle = opencl_library.find_device(library, device.name, driver_version)
        offered = opencl_library.text(library.clGetDeviceInfo, handle, _EXTENSIONS).split()
    except (OSError, AttributeError, opencl_library.OpenCLError):
        return ()
    return tuple(sorted(name for name, _ in EXTENSIONS.values() if name in offered))
