"""Make dpctl, dpnp and, where it is, numba_dpex find their libraries and drivers, from a clean shell."""

from __future__ import annotations

import functools
import os

from numba_sycl import libraries

#: True if dpctl was imported before this package: if it has looked for devices already, it does not look again.
came_late = False


@functools.cache
def prepare() -> tuple[str, str] | None:
    """Have the packages of SYCL find their libraries and drivers in this process, without importing one of them.

    Sets ``OCL_ICD_FILENAMES`` (and, for an old CPU driver, ``CL_CONFIG_CPU_TARGET_ARCH``) for this process
    and its children, unless the user has set them.

    Returns:
        None, or of the first library that cannot be loaded its package and the loader's one-line reason.

    Raises:
        BrokenEnvironment: the CPU device's driver lies where it cannot work.
    """
    cpu_driver = libraries.find_library(libraries.CPU_DRIVER_LIBRARY)
    os.environ.update(libraries.driver_settings(os.environ, cpu_driver, libraries.text_of(libraries.CPUINFO)))
    return libraries.load_libraries()
