"""The shared libraries that dpctl, dpnp and numba-dpex need: where they are, and loading them.

The wheels of the pinned stack look for them in places that do not exist (their library path lost its ``$ORIGIN``), so
they are loaded by full path, globally, before the first of these packages is imported. Under conda they are found
anyway, and are the same files. The current stack's wheels find theirs by themselves.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from xebench.system.runtime.packages import is_current

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
    ("libmkl_sycl_sparse.so.4", "onemkl-sycl-sparse"),
    ("libmkl_sycl_stats.so.4", "onemkl-sycl-stats"),
    ("libmkl_sycl_data_fitting.so.4", "onemkl-sycl-datafitting"),
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
    """For environments whose packages are in other folders, such as a venv that sees its base's packages."""
    folders: dict[Path, None] = {}
    for package in dict.fromkeys(package for _, package in LIBRARIES):
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        owned = (Path(os.path.normpath(str(file.locate()))).parent for file in files if ".so" in file.name)
        folders.update(dict.fromkeys(owned))
    return tuple(folders)
