"""The few errors of libraries that mean that the device lacks something; every other one is the code's own."""

from __future__ import annotations

import re
from typing import Final

from numba_sycl.sycl_types import Device
from xebench.errors import TooLarge, Unsupported, XebenchError

#: The runtime's words for an aspect, such as fp64, that a kernel needs. The device's own list of aspects decides.
_ASPECT: Final = re.compile(r"(?i)required aspects? ([a-z0-9_]+)")

#: Words for a device that a library has no code for. The numbers are of OpenCL: a build that failed, a binary of
#: another device, a kernel that the device's program lacks.
_NO_CODE: Final = re.compile(
    r"(?i)unsupported device|device is not supported|not supported (on|by) (the|this) device"
    r"|UNSUPPORTED_FEATURE|INVALID_KERNEL_NAME|INVALID_BINARY|BUILD_PROGRAM_FAILURE"
    r"|(error|returns:) -(11|42|46)\b"
)

#: Words for memory that ran out.
_NO_MEMORY: Final = re.compile(
    r"(?i)OUT_OF_(DEVICE|HOST)_MEMORY|MEM_OBJECT_ALLOCATION_FAILURE|(error|returns:) -(4|6)\b"
)


def lack_of(error: RuntimeError, device: Device) -> type[XebenchError] | None:
    """The error that a library's RuntimeError stands for; None if it does not say what the device lacks.

    Args:
        error: raised by a call of a library.
        device: the call's device.

    Returns:
        `Unsupported`: the device lacks an aspect, or the library has no code for it. `TooLarge`: memory ran out.
    """
    text = str(error)
    if aspect := _ASPECT.search(text):
        return None if getattr(device, f"has_aspect_{aspect[1].lower()}", False) else Unsupported
    if _NO_CODE.search(text):
        return Unsupported
    return TooLarge if _NO_MEMORY.search(text) else None
