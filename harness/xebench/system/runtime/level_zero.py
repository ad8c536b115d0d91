"""Facts of Level Zero's devices and memory that SYCL and dpctl do not tell."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from numba_sycl.level_zero_library import Handle, check, handles, properties

# ze_structure_type_t
_QUEUE_GROUP_PROPERTIES: Final = 0x6
_ALLOCATION_PROPERTIES: Final = 0x17
#: Flag of a group of queues that take kernels.
_COMPUTE: Final = 1


class _QueueGroup(ctypes.Structure):
    """``ze_command_queue_group_properties_t``."""

    _fields_ = [
        ("stype", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("max_fill_pattern", ctypes.c_size_t),
        ("queues", ctypes.c_uint32),
    ]


class _AllocationProperties(ctypes.Structure):
    """``ze_memory_allocation_properties_t``; type 0 is memory of another origin."""

    _fields_ = [
        ("stype", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("type", ctypes.c_uint32),
        ("id", ctypes.c_uint64),
        ("page_size", ctypes.c_uint64),
    ]


def device_uuid(library: Any, device: Handle) -> bytes:
    """The 16 bytes of a device's UUID.

    Raises:
        LevelZeroError: the driver does not answer.
    """
    return bytes(properties(library, device).uuid)


def compute_engines(library: Any, device: Handle) -> int:
    """The number of queues whose kernels a device can run side by side: its compute engines.

    Raises:
        LevelZeroError: the driver does not answer.
    """
    count = ctypes.c_uint32()
    check(library.zeDeviceGetCommandQueueGroupProperties(device, ctypes.byref(count), None))
    groups = (_QueueGroup * count.value)()
    for group in groups:
        group.stype = _QUEUE_GROUP_PROPERTIES
    check(library.zeDeviceGetCommandQueueGroupProperties(device, ctypes.byref(count), groups))
    return max((group.queues for group in groups if group.flags & _COMPUTE), default=0)


def can_access_peer(library: Any, device: Handle, peer: Handle) -> bool:
    """True if a device may read and write memory of another.

    Raises:
        LevelZeroError: the driver does not answer.
    """
    answer = ctypes.c_uint8()
    check(library.zeDeviceCanAccessPeer(device, peer, ctypes.byref(answer)))
    return bool(answer.value)


def is_imported(library: Any, address: int) -> bool:
    """True if a driver has imported memory of the host (Intel's ``zexDriverGetHostPointerBaseAddress``).

    Raises:
        LevelZeroError: there is no driver.
    """
    for driver in handles(library.zeDriverGet):
        function = Handle()
        name = b"zexDriverGetHostPointerBaseAddress"
        if not library.zeDriverGetExtensionFunctionAddress(driver, name, ctypes.byref(function)):
            ask = ctypes.CFUNCTYPE(ctypes.c_uint32, Handle, Handle, ctypes.POINTER(Handle))(function.value or 0)
            if not ask(driver, Handle(address), ctypes.byref(Handle())):
                return True
    return False


def owner(library: Any, context: Handle, address: int) -> int | None:
    """The handle of the device whose memory an address is in; None if a context's driver has not allocated it.

    Raises:
        LevelZeroError: the driver does not answer.
    """
    about, device = _AllocationProperties(stype=_ALLOCATION_PROPERTIES), Handle()
    check(library.zeMemGetAllocProperties(context, Handle(address), ctypes.byref(about), ctypes.byref(device)))
    return device.value if about.type else None
