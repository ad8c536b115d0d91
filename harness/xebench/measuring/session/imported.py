"""Memory of the host that the driver of a GPU imports, so that the device copies from and to it by itself."""

from __future__ import annotations

import weakref
from typing import Any

import dpctl
import numpy as np
import numpy.typing as npt

from xebench.dpex.native_handles import prepare_for_device_copy, release_from_device_copy
from xebench.errors import Unsupported
from xebench.system.runtime import level_zero_library


def import_memory(array: npt.NDArray[Any], queue: dpctl.SyclQueue) -> None:
    """Call SYCL's ``prepare_for_device_copy`` (G 7153), and the opposite when the array is gone.

    Args:
        array: contiguous.
        queue: whose context's driver it is.

    Raises:
        TypeError: it is no contiguous array of numpy.
        Unsupported: this is not Level Zero, or its driver has not taken it.
    """
    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
        raise TypeError("session.import_memory takes a contiguous array of numpy")
    if queue.backend != dpctl.backend_type.level_zero:
        raise Unsupported("needs the level_zero backend: other drivers import no memory of the host")
    address, context = array.ctypes.data, queue.sycl_context
    prepare_for_device_copy(address, array.nbytes, context)
    weakref.finalize(array, release_from_device_copy, address, context)
    if not level_zero_library.is_imported(level_zero_library.open_library(), address):
        raise Unsupported("needs a driver of Level Zero that imports memory of the host: this one has not")
