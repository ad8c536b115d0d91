"""The identity of a SYCL device's hardware: two equal GPUs share name and driver.

OpenCL's ``cl_khr_pci_bus_info`` and ``cl_khr_device_uuid``, and the UUID in ``ze_device_properties_t``, say it. The
handle of a device comes from ``sycl::device::getNative``, as no order of drivers' lists is promised.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

from xebench.system.runtime import level_zero_library, libraries, opencl_library

if TYPE_CHECKING:
    from xebench.system.sycl_types import Device

_UUID, _PCI_BUS_INFO = 0x106A, 0x410F
_UUID_BYTES: Final = 16
_GET_NATIVE: Final = "_ZNK4sycl3_V16device9getNativeEv"


def hardware_id(device: Device) -> str | None:
    """The PCI address of a ``dpctl.SyclDevice``, or its UUID; None where its driver gives neither."""
    told = {"opencl": _of_opencl, "level_zero": _of_level_zero}.get(device.backend.name)
    if told is None:
        return None
    try:
        return told(native_handle(device))
    except (OSError, AttributeError, opencl_library.OpenCLError, level_zero_library.LevelZeroError):
        return None


def native_handle(device: Device) -> ctypes.c_void_p:
    """The ``cl_device_id`` or ``ze_device_handle_t`` of a ``dpctl.SyclDevice``.

    Raises:
        OSError: SYCL's library cannot be opened.
        AttributeError: it has no such function.
    """
    get_native = getattr(ctypes.CDLL(str(libraries.sycl_library() or libraries.SYCL_LIBRARY)), _GET_NATIVE)
    get_native.restype, get_native.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
    return ctypes.c_void_p(get_native(device.addressof_ref()))


def _of_opencl(handle: ctypes.c_void_p) -> str | None:
    library = opencl_library.open_library()
    address = (ctypes.c_uint32 * 4)()  # domain, bus, device, function
    if not _ask_opencl(library, handle, _PCI_BUS_INFO, address):
        return "pci {:04x}:{:02x}:{:02x}.{:x}".format(*address)
    uuid = (ctypes.c_uint8 * _UUID_BYTES)()
    return None if _ask_opencl(library, handle, _UUID, uuid) else _uuid_text(bytes(uuid))


def _ask_opencl(library: Any, handle: ctypes.c_void_p, what: int, answer: Any) -> int:
    """The status of ``clGetDeviceInfo``: 0 if it answers, an error where the driver lacks the extension."""
    size = ctypes.c_size_t(ctypes.sizeof(answer))
    return int(library.clGetDeviceInfo(handle, what, size, ctypes.byref(answer), None))


def _of_level_zero(handle: ctypes.c_void_p) -> str | None:
    return _uuid_text(level_zero_library.device_uuid(level_zero_library.open_library(), handle))


def _uuid_text(uuid: bytes) -> str | None:
    return f"uuid {uuid.hex()}" if any(uuid) else None
