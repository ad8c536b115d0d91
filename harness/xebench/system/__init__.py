"""The lowest room: the SYCL runtime and the machine, child processes, files on disk, facts of GPUs."""

from pathlib import Path
from typing import Final

#: The folder of the package `xebench`, in a source tree or where a wheel is installed.
PACKAGE: Final = Path(__file__).parents[1]

__all__ = ["PACKAGE", "children", "disk_cache", "gpu_model", "kernel_pack", "lazy", "runtime", "sycl_types"]
