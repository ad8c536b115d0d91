"""What a test needs of the machine beside Python, make and the environment: `needs` marks it, the skip says it.

`.ci/run` runs all tests with every such program hidden, and then, with the programs, those that have this mark.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

import pytest

from numba_sycl import libraries
from numba_sycl.errors import Unsupported

#: What brings it.
OPTIONAL: Final = {
    "ocloc": "Intel's offline compiler (Debian: intel-opencl-icd)",
    "chromium": "a browser (Debian: chromium)",
    "mpiexec": "an MPI launcher and mpi4py (pip install mpich mpi4py, or Debian: openmpi-bin)",
    "spirv-val": "Khronos' validator of SPIR-V (Debian: spirv-tools)",
    "GPU driver": "Intel's OpenCL driver for GPUs (Debian: intel-opencl-icd)",
    "Level Zero driver": "Intel's current driver in a root of its own (make level-zero, as root, with debootstrap)",
}

#: Where `tools/intel-root.sh` puts a root, and the libraries in it.
ROOT: Final = Path(os.environ.get("INTEL_ROOT") or "/var/cache/xebench/ocloc-current")
LIBRARIES: Final = ROOT / "usr/lib/x86_64-linux-gnu"


def needs(what: str) -> pytest.MarkDecorator:
    """The mark of a test that cannot run without this."""
    assert what in OPTIONAL, f"{what}: say in OPTIONAL what brings it"
    return pytest.mark.optional(what)


def is_here(what: str | None) -> bool:
    """Whether xebench finds it; False of what is no program."""
    if what not in OPTIONAL:
        return False
    if what == "GPU driver":
        drivers = libraries.registered_drivers(libraries.vendor_folders(os.environ))
        return any("igdrcl" in driver and libraries.driver_exists(driver) for driver in drivers)
    if what == "Level Zero driver":
        return (LIBRARIES / "libze_intel_gpu.so.1").exists()
    if what == "mpiexec":
        from xebench.system.runtime.mpi import find_launcher

        try:
            find_launcher()
        except Unsupported:
            return False
        return True
    return shutil.which(what) is not None


def skip_without(item: pytest.Item) -> None:
    """Skip a test that lacks what it needs."""
    for mark in item.iter_markers("optional"):
        if not is_here(mark.args[0]):
            pytest.skip(f"needs {mark.args[0]}: {OPTIONAL[mark.args[0]]}")
