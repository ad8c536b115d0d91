"""SYCL's own buffers, by the shim in C++."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_size_t, c_void_p
from typing import Any

import numpy as np

from numba_sycl import DeviceEvent
from numba_sycl.errors import SubmissionError
from numba_sycl.launch import PreparedLaunch
from numba_sycl.sycl_types import Event
from xebench.errors import XebenchError
from xebench.system.runtime import sycl_shim


class SyclBuffers:
    """See `xebench.session.buffers.buffer.Buffers`."""

    def __init__(self) -> None:
        self._library = sycl_shim.load()
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
        references = (c_void_p * len(depends))(*[event.addressof_ref() for event in depends])
        event = function(*launch.call, references, c_size_t(len(depends)))
        if not event:
            raise SubmissionError(
                f"kernel {launch.device_kernel.compiled.name} was not submitted: {sycl_shim.last_error(self._library)}"
            )
        return DeviceEvent.own(event, launch.arguments)

    def _called(self, result: int | None) -> int:
        if result is None:
            raise XebenchError(f"SYCL's runtime refused a buffer: {sycl_shim.last_error(self._library)}")
        return result
