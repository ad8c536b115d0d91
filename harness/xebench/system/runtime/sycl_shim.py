"""Classes of SYCL that C has not, by a library in C++ (`sycl_shim.cpp`).

The machine's compiler builds it once, and it is kept on disk.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from numba_sycl import libraries
from xebench.system import disk_cache
from xebench.system.children import process
from xebench.system.runtime import sycl_headers

SOURCE: Final = Path(__file__).with_name("sycl_shim.cpp")
TIMEOUT_S: Final = 180.0

_POINTER, _SIZE, _INT, _TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p
_FUNCTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "new_buffer": (_SIZE, _POINTER, _INT),
    "free_buffer": (_POINTER,),
    "open_host_access": (_POINTER, _INT, _INT, _INT),
    "close_host_access": (_POINTER,),
    "pointer_of": (_POINTER,),
    "add_through": (_POINTER, ctypes.c_float, _SIZE),
    "compile_source": (_TEXT, _TEXT, _TEXT, ctypes.POINTER(_SIZE)),
}


class NoShim(Exception):
    """The shim cannot be built here; the message says what it needs."""


@functools.cache
def load() -> ctypes.CDLL:
    """The shim's library, from disk or built now (5 to 10 s).

    Raises:
        NoShim: headers or a compiler are missing, or it does not compile.
    """
    if missing := sycl_headers.obstacle():
        raise NoShim(f"needs {missing}")
    runtime = libraries.sycl_library()
    assert runtime is not None
    parts = (SOURCE.read_bytes(), str(runtime.resolve()).encode(), str(runtime.stat().st_mtime_ns).encode())
    name = hashlib.sha256(b"\0".join(parts)).hexdigest()[:32]
    kept = disk_cache.default_folder("shim") / f"{name}.so"
    if not kept.exists():
        with tempfile.TemporaryDirectory(prefix="xebench-shim-") as folder:
            made = Path(folder, "shim.so")
            _compile(runtime, made)
            disk_cache.keep(kept, made.read_bytes())
            if not kept.exists():  # the disk refuses
                return _bound(made)
    return _bound(kept)


def last_error(library: ctypes.CDLL) -> str:
    """The text of the error that the latest call of this thread ended with."""
    told: bytes = library.last_error()
    return told.decode(errors="replace")


def _compile(runtime: Path, made: Path) -> None:
    options = ["-std=c++17", "-O3", "-shared", "-fPIC", f"-I{sycl_headers.headers()}"]
    call = [
        sycl_headers.compiler() or "",
        *options,
        str(SOURCE),
        "-o",
        str(made),
        f"-L{runtime.parent}",
        f"-l:{runtime.name}",
    ]
    try:
        run = process.run(call, TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoShim(f"needs a C++ compiler that works: {error}") from None
    if run.returncode:
        told = next((line for line in run.stdout.splitlines() if "error" in line), f"exit status {run.returncode}")
        raise NoShim(f"needs a C++ compiler that takes SYCL's headers: {told}")


def _bound(path: Path) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise NoShim(f"needs a C++ library that fits: {error}") from None
    for name, arguments in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = _POINTER, arguments
    library.submit_range.restype = library.submit_nd_range.restype = _POINTER
    library.last_error.restype = ctypes.c_char_p
    return library
