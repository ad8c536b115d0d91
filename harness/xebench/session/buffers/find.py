"""The kind of buffers that there is here."""

from __future__ import annotations

from xebench.errors import Unsupported
from xebench.session.buffers import shim
from xebench.session.buffers.buffer import Buffers
from xebench.session.buffers.opencl_memory import OpenCLBuffers
from xebench.system.sycl_types import Queue


def buffers_on(queue: Queue) -> Buffers:
    """SYCL's own buffers, else OpenCL's on an OpenCL device.

    Raises:
        Unsupported: there are neither.
    """
    try:
        return shim.SyclBuffers()
    except shim.NoShim as error:
        if queue.sycl_device.backend.name == "opencl":
            return OpenCLBuffers(queue, str(error))
        raise Unsupported(f"SYCL's buffers: {error}") from None
