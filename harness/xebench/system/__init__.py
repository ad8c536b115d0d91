"""The lowest room: the SYCL runtime and the machine, processes, files on disk, Intel's compiler, facts of GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numba_sycl

#: The folder of the package `xebench`, in a source tree or where a wheel is installed.
PACKAGE: Final = Path(__file__).parents[1]

#: That one, and the package of the kernel language.
PACKAGES: Final = (PACKAGE, Path(numba_sycl.__file__).parent)

__all__ = [
    "PACKAGE",
    "PACKAGES",
    "children",
    "disk_cache",
    "gpus",
    "is_own",
    "occupancy",
    "offline_compiler",
    "runtime",
    "zebin",
]


def is_own(path: Path) -> bool:
    """True if a file belongs to one of these packages."""
    return any(package in path.parents for package in PACKAGES)
