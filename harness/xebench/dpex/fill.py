"""Fill an array with one value as a command of its own: dpctl 0.17 has this in its C interface only."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from xebench.dpex import dpctl_library
from xebench.dpex.clocks import NO_CLOCK, lacks_clock
from xebench.dpex.dpex_errors import ArgumentError, SubmissionError
from xebench.dpex.events import DeviceEvent
from xebench.dpex.signature import as_usm_array
from xebench.system.sycl_types import Queue, UsmArray

_PATTERNS = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}
_FILLS = {
    size: dpctl_library.bind(
        f"DPCTLQueue_Fill{8 * size}", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, kind, ctypes.c_size_t
    )
    for size, kind in _PATTERNS.items()
}


def fill(queue: Queue, array: UsmArray, value: Any) -> DeviceEvent:
    """Submit a fill (``sycl::queue::fill``); returns at once.

    Args:
        queue: the ``dpctl.SyclQueue``.
        array: a contiguous USM array of elements of 1, 2, 4 or 8 bytes.
        value: what every element becomes; must be a value of the array's dtype.

    Raises:
        ArgumentError: not such an array.
        SubmissionError: the runtime refused it.
    """
    target = as_usm_array(array)
    if target is None or not target.flags.c_contiguous or target.itemsize not in _PATTERNS:
        raise ArgumentError("fill takes a contiguous USM array of elements of 1, 2, 4 or 8 bytes")
    element = np.asarray(value).astype(target.dtype)
    pattern = int(element.reshape(1).view(f"u{target.itemsize}")[0])
    reference = _FILLS[target.itemsize](queue.addressof_ref(), target._pointer, pattern, target.size)
    if not reference:
        why = f": {NO_CLOCK}" if lacks_clock(queue) else "; DPCTL_VERBOSITY=error prints why"
        raise SubmissionError(f"the runtime refused to fill an array{why}")
    return DeviceEvent.own(reference, target)
