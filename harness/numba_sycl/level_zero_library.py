"""Level Zero itself, by ctypes: for the few things that SYCL and dpctl do not offer."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

LOADER: Final = "libze_loader.so.1"

# ze_structure_type_t
_DEVICE_PROPERTIES, _CONTEXT_DESC, MODULE_DESC = 0x3, 0xD, 0x1B

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


class _ContextDesc(ctypes.Structure):
    """``ze_context_desc_t``."""

    _fields_ = [("stype", ctypes.c_uint32), ("next", ctypes.c_void_p), ("flags", ctypes.c_uint32)]


class ModuleDesc(ctypes.Structure):
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
    for driver in handles(library.zeDriverGet):
        for device in handles(library.zeDeviceGet, driver):
            about = properties(library, device)
            if about.name.decode(errors="replace").strip() == name.strip():
                return driver, device
    raise LevelZeroError("the device is not found through Level Zero")


def build_log(library: Any, name: str, spirv: bytes, options: str) -> str:
    """The log of a device's driver for the build of a module.

    Args:
        library: see `open_library`.
        name: name of the device.
        spirv: the module.
        options: options of the driver's compiler.

    Returns:
        The log; empty if the module builds without a message.

    Raises:
        LevelZeroError: there is no such device, no context on it, or no log of a module that is not built.
    """
    with built_module(library, name, spirv, options) as (status, _module_handle, log):
        text = _text_of(library, log) if log else ""
    if not text:
        check(status)
    return text


@contextmanager
def built_module(library: Any, name: str, spirv: bytes, options: str) -> Iterator[tuple[int, Any, Any]]:
    """The status of a build, with handles of module and log where there are any."""
    driver, device = find_device(library, name)
    description = ModuleDesc(MODULE_DESC, None, 0, len(spirv), spirv, options.encode(), None)
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


def properties(library: Any, device: Any) -> _DeviceProperties:
    """A device's name, UUID and other facts.

    Raises:
        LevelZeroError: the driver does not answer.
    """
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


def handles(query: Any, *before: Any) -> list[Any]:
    """The list that a function such as ``zeDriverGet`` returns."""
    count = ctypes.c_uint32()
    check(query(*before, ctypes.byref(count), None))
    found = (Handle * count.value)()
    check(query(*before, ctypes.byref(count), found))
    return [Handle(handle) for handle in found]
