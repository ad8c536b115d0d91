"""Level Zero itself, by ctypes: for the few things that SYCL and dpctl do not offer."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

LOADER: Final = "libze_loader.so.1"

# ze_structure_type_t
_ALLOCATION_PROPERTIES: Final = 0x17
_DEVICE_PROPERTIES, _QUEUE_GROUP_PROPERTIES, _CONTEXT_DESC, _MODULE_DESC, _KERNEL_DESC = 0x3, 0x6, 0xD, 0x1B, 0x1D
#: ze_module_format_t
_NATIVE: Final = 1
#: Flag of a group of queues that take kernels.
_COMPUTE: Final = 1

Handle = ctypes.c_void_p


class LevelZeroError(Exception):
    """A call failed, or there is no such device."""


class _DeviceProperties(ctypes.Structure):
    """``ze_device_properties_t``; only name and UUID are read."""

    _fields_ = [
        ("stype", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("type_to_clock_rate", ctypes.c_uint32 * 6),
        ("max_alloc_bytes", ctypes.c_uint64),
        ("contexts_to_slices", ctypes.c_uint32 * 7),
        ("timer_resolution", ctypes.c_uint64),
        ("valid_bits", ctypes.c_uint32 * 2),
        ("uuid", ctypes.c_uint8 * 16),
        ("name", ctypes.c_char * 256),
    ]


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


class _ContextDesc(ctypes.Structure):
    """``ze_context_desc_t``."""

    _fields_ = [("stype", ctypes.c_uint32), ("next", ctypes.c_void_p), ("flags", ctypes.c_uint32)]


class _ModuleDesc(ctypes.Structure):
    """``ze_module_desc_t``; format 0 is SPIR-V, 1 a binary."""

    _fields_ = [
        ("stype", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("format", ctypes.c_uint32),
        ("size", ctypes.c_size_t),
        ("code", ctypes.c_char_p),
        ("build_flags", ctypes.c_char_p),
        ("constants", ctypes.c_void_p),
    ]


class _KernelDesc(ctypes.Structure):
    """``ze_kernel_desc_t``."""

    _fields_ = [
        ("stype", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
    ]


def check(status: int) -> None:
    """Raise LevelZeroError for a status that is not ZE_RESULT_SUCCESS."""
    if status:
        raise LevelZeroError(f"Level Zero error {status & 0xFFFFFFFF:#x}")


def open_library() -> Any:
    """The loader's library, ready for use; again is free.

    Raises:
        OSError: there is none.
        LevelZeroError: it finds no driver.
    """
    library = ctypes.CDLL(LOADER)
    check(library.zeInit(ctypes.c_uint32(0)))
    return library


def find_device(library: Any, name: str) -> tuple[Any, Any]:
    """Driver and device of a name; of equal devices the first.

    Raises:
        LevelZeroError: there is none.
    """
    for driver in _handles(library.zeDriverGet):
        for device in _handles(library.zeDeviceGet, driver):
            about = _properties(library, device)
            if about.name.decode(errors="replace").strip() == name.strip():
                return driver, device
    raise LevelZeroError("the device is not found through Level Zero")


def device_uuid(library: Any, device: Handle) -> bytes:
    """The 16 bytes of a device's UUID.

    Raises:
        LevelZeroError: the driver does not answer.
    """
    return bytes(_properties(library, device).uuid)


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
    for driver in _handles(library.zeDriverGet):
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


def build_log(library: Any, name: str, spirv: bytes, options: str) -> str:
    """The log of a device's driver for the build of a module.

    Args:
        library: see `open_library`.
        name: name of the device.
        spirv: the module.
        options: options of the driver's compiler.

    Returns:
        The log, or the error number if there is no log; empty if the module builds without a message.

    Raises:
        LevelZeroError: there is no such device, or no context on it.
    """
    with _module(library, name, spirv, options) as (status, _module_handle, log):
        text = _text_of(library, log) if log else ""
    return text or (f"Level Zero error {status & 0xFFFFFFFF:#x}" if status else "")


def load_kernel(library: Any, context: Handle, device: Handle, binary: bytes, name: bytes) -> tuple[Handle, Handle]:
    """A module of a binary for a device, and a kernel of it.

    Raises:
        LevelZeroError: the driver refuses it, or it has no such kernel.
    """
    description = _ModuleDesc(_MODULE_DESC, None, _NATIVE, len(binary), binary, b"", None)
    module, kernel = Handle(), Handle()
    check(library.zeModuleCreate(context, device, ctypes.byref(description), ctypes.byref(module), None))
    check(library.zeKernelCreate(module, ctypes.byref(_KernelDesc(_KERNEL_DESC, None, 0, name)), ctypes.byref(kernel)))
    return module, kernel


def native_binary(library: Any, name: str, spirv: bytes, options: str) -> bytes:
    """The binary that a device's driver builds of a module; see `build_log`.

    Raises:
        LevelZeroError: there is no such device, or the module does not build.
    """
    with _module(library, name, spirv, options) as (status, module, _log):
        check(status)
        size = ctypes.c_size_t()
        check(library.zeModuleGetNativeBinary(module, ctypes.byref(size), None))
        binary = ctypes.create_string_buffer(size.value)
        check(library.zeModuleGetNativeBinary(module, ctypes.byref(size), binary))
    return binary.raw


@contextmanager
def _module(library: Any, name: str, spirv: bytes, options: str) -> Iterator[tuple[int, Any, Any]]:
    """The status of a build, with handles of module and log where there are any."""
    driver, device = find_device(library, name)
    description = _ModuleDesc(_MODULE_DESC, None, 0, len(spirv), spirv, options.encode(), None)
    with _context(library, driver) as context:
        module, log = Handle(), Handle()
        status = library.zeModuleCreate(
            context, device, ctypes.byref(description), ctypes.byref(module), ctypes.byref(log)
        )
        try:
            yield status, module, log
        finally:
            if log:
                library.zeModuleBuildLogDestroy(log)
            if module:
                library.zeModuleDestroy(module)


def _properties(library: Any, device: Any) -> _DeviceProperties:
    about = _DeviceProperties(stype=_DEVICE_PROPERTIES)
    check(library.zeDeviceGetProperties(device, ctypes.byref(about)))
    return about


@contextmanager
def _context(library: Any, driver: Any) -> Iterator[Any]:
    context = Handle()
    check(library.zeContextCreate(driver, ctypes.byref(_ContextDesc(_CONTEXT_DESC, None, 0)), ctypes.byref(context)))
    try:
        yield context
    finally:
        library.zeContextDestroy(context)


def _text_of(library: Any, log: Any) -> str:
    size = ctypes.c_size_t()
    check(library.zeModuleBuildLogGetString(log, ctypes.byref(size), None))
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    check(library.zeModuleBuildLogGetString(log, ctypes.byref(size), buffer))
    return buffer.value.decode(errors="replace").strip()


def _handles(query: Any, *before: Any) -> list[Any]:
    count = ctypes.c_uint32()
    check(query(*before, ctypes.byref(count), None))
    found = (Handle * count.value)()
    check(query(*before, ctypes.byref(count), found))
    return [Handle(handle) for handle in found]
