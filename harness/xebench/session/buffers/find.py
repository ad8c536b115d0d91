"""The kind of buffers that there is here."""

from __future__ import annotations

from numba_sycl.stacks import is_current
from numba_sycl.sycl_types import Queue
from xebench.errors import Unsupported
from xebench.session.buffers.buffer import Buffers
from xebench.session.buffers.opencl_memory import OpenCLBuffers
from xebench.session.buffers.sycl_memory import SyclBuffers
from xebench.system.runtime.sycl_headers import WITHOUT_LEVEL_ZERO
from xebench.system.runtime.sycl_shim import NoShim


def buffers_on(queue: Queue) -> Buffers:
    """SYCL's own buffers, else OpenCL's on an OpenCL device.

    Raises:
        Unsupported: there are neither.
    """
    try:
        return SyclBuffers()
    except NoShim as error:
        if queue.sycl_device.backend.name == "opencl":
            return OpenCLBuffers(queue, str(error))
        step = "" if is_current() else f": {WITHOUT_LEVEL_ZERO}"
        raise Unsupported(f"SYCL's buffers on Level Zero: {error}{step}") from None
