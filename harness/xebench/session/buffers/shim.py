"""SYCL's own buffers, by a library in C++ that the machine's compiler builds once (`shim.cpp`); it is kept on disk."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from xebench.dpex import DeviceEvent
from xebench.dpex.dpex_errors import SubmissionError
from xebench.dpex.launch import PreparedLaunch
from xebench.errors import XebenchError
from xebench.system import disk_cache
from xebench.system.children import process
from xebench.system.runtime import libraries, sycl_headers
from xebench.system.sycl_types import Event

SOURCE: Final = Path(__file__).with_name("shim.cpp")
TIMEOUT_S: Final = 180.0

_POINTER, _SIZE, _INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
_FUNCTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "new_buffer": (_SIZE, _POINTER, _INT),
    "free_buffer": (_POINTER,),
    "open_host_access": (_POINTER, _INT, _INT, _INT),
    "close_host_access": (_POINTER,),
    "pointer_of": (_POINTER,),
    "add_through": (_POINTER, ctypes.c_float, _SIZE),
}


class NoShim(Exception):
    """The shim cannot be built here; the message says what it needs."""


@functools.cache
def load() -> ctypes.CDLL:
    """The shim's library, from disk or built now (2 to 5 s).

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


class SyclBuffers:
    """See `xebench.session.buffers.buffer.Buffers`."""

    def __init__(self) -> None:
        self._library = load()
        self.opened = 0

    def new(self, size_bytes: int, host: int | None, *, writable: bool) -> int:
        """See `Buffers`; so for all of these."""
        return self._called(self._library.new_buffer(size_bytes, host, writable))

    def free(self, buffer: int) -> None:
        """Destroy it."""
        self._called(self._library.free_buffer(buffer))

    def open(self, buffer: int, mode: int, *, no_init: bool, dtype: np.dtype[Any]) -> tuple[Any, int]:
        """Construct a ``host_accessor``."""
        accessor = self._called(self._library.open_host_access(buffer, mode, no_init, dtype == np.float32))
        return accessor, self._called(self._library.pointer_of(accessor))

    def close(self, accessor: Any) -> None:
        """Destroy it."""
        self._called(self._library.close_host_access(accessor))

    def add(self, accessor: Any, value: float, step: int) -> None:
        """Add by ``accessor[i] += value``."""
        self._called(self._library.add_through(accessor, value, step))

    def submit(self, launch: PreparedLaunch, depends: Sequence[Event]) -> DeviceEvent:
        """Submit a command group with its accessors."""
        function = self._library.submit_nd_range if launch.local_size else self._library.submit_range
        references = (_POINTER * len(depends))(*[event.addressof_ref() for event in depends])
        event = function(*launch.call, references, _SIZE(len(depends)))
        if not event:
            raise SubmissionError(f"kernel {launch.device_kernel.compiled.name} was not submitted: {self._error()}")
        return DeviceEvent.own(event, launch.arguments)

    def _called(self, result: int | None) -> int:
        if result is None:
            raise XebenchError(f"SYCL's runtime refused a buffer: {self._error()}")
        return result

    def _error(self) -> str:
        told: bytes = self._library.last_error()
        return told.decode(errors="replace")
