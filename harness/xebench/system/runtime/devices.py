"""The SYCL devices of this machine: which piece of hardware each is, what its OpenCL C can do, and choosing one.

OpenCL's ``cl_khr_pci_bus_info`` and ``cl_khr_device_uuid``, and the UUID in ``ze_device_properties_t``, say it. The
handle of a device comes from ``sycl::device::getNative``, as no order of drivers' lists is promised.

A device is a GPU or a CPU. Accelerators (the FPGA emulator of a oneAPI installation is one) are left out: the
guide promises nothing for them, and an emulator must not answer to ``--device auto``.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numba_sycl.loading
from numba_sycl import level_zero_library, libraries, opencl_library
from numba_sycl.libraries import CPU_DRIVER_LIBRARY, find_library
from numba_sycl.stacks import CPU_DRIVER
from xebench.errors import NoDevice
from xebench.system.runtime import level_zero
from xebench.system.runtime.loading import load
from xebench.system.runtime.packages import mend_command
from xebench.system.runtime.partitions import has_several
from xebench.system.runtime.variables import hiding_variables

if TYPE_CHECKING:
    from numba_sycl.sycl_types import Device


_EXTENSIONS = 0x1030

#: Requirement to the OpenCL extension that grants it, and what that is.
EXTENSIONS: Final[Mapping[str, tuple[str, str]]] = {
    "intel_subgroups": ("cl_intel_subgroups", "Intel's sub-group functions"),
    "intel_subgroups_short": ("cl_intel_subgroups_short", "Intel's sub-group functions on 16 bits"),
    "intel_subgroups_char": ("cl_intel_subgroups_char", "Intel's sub-group functions on 8 bits"),
    "intel_subgroups_long": ("cl_intel_subgroups_long", "Intel's sub-group functions on 64 bits"),
    "intel_required_subgroup_size": ("cl_intel_required_subgroup_size", "kernels that require a sub-group size"),
    "intel_local_block_io": ("cl_intel_subgroup_local_block_io", "sub-group block access to local memory"),
    "intel_2d_block_io": ("cl_intel_subgroup_2d_block_io", "two-dimensional sub-group block access"),
    "xmx": ("cl_intel_subgroup_matrix_multiply_accumulate", "matrix engine that OpenCL C reaches"),
    "khr_subgroups": ("cl_khr_subgroups", "sub-group functions of OpenCL"),
    "khr_subgroup_shuffle": ("cl_khr_subgroup_shuffle", "sub-group shuffles of OpenCL"),
    "integer_dot_product": ("cl_khr_integer_dot_product", "integer dot products"),
    "float_atomics": ("cl_ext_float_atomics", "floating-point atomics of OpenCL C"),
}

#: Extensions of Intel's compiler for every GPU, used without an OpenCL driver: Level Zero has no such names.
ON_LEVEL_ZERO: Final = frozenset(
    ("intel_subgroups", "intel_subgroups_short", "intel_required_subgroup_size", "khr_subgroups")
)


def extensions_of(device: Device) -> tuple[str, ...]:
    """The `EXTENSIONS` that a ``dpctl.SyclDevice`` has, by OpenCL's names.

    A device of Level Zero is looked up by its name: Intel's OpenCL driver offers it, too, where that is installed.
    """
    driver_version = device.driver_version if device.backend.name == "opencl" else None
    try:
        library = opencl_library.open_library()
        handle = opencl_library.find_device(library, device.name, driver_version)
        offered = opencl_library.text(library.clGetDeviceInfo, handle, _EXTENSIONS).split()
    except (OSError, AttributeError, opencl_library.OpenCLError):
        return ()
    return tuple(sorted(name for name, _ in EXTENSIONS.values() if name in offered))


_UUID, _PCI_BUS_INFO = 0x106A, 0x410F

_UUID_BYTES: Final = 16

_GET_NATIVE: Final = "_ZNK4sycl3_V16device9getNativeEv"


def hardware_id(device: Device) -> str | None:
    """The UUID of a ``dpctl.SyclDevice``, or its PCI address; None where its driver gives neither, or zeros."""
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
    uuid = (ctypes.c_uint8 * _UUID_BYTES)()
    if not _ask_opencl(library, handle, _UUID, uuid) and any(uuid):
        return _uuid_text(bytes(uuid))
    address = (ctypes.c_uint32 * 4)()  # domain, bus, device, function
    if not _ask_opencl(library, handle, _PCI_BUS_INFO, address) and any(address):
        return "pci {:04x}:{:02x}:{:02x}.{:x}".format(*address)
    return None


def _ask_opencl(library: Any, handle: ctypes.c_void_p, what: int, answer: Any) -> int:
    """The status of ``clGetDeviceInfo``: 0 if it answers, an error where the driver lacks the extension."""
    size = ctypes.c_size_t(ctypes.sizeof(answer))
    return int(library.clGetDeviceInfo(handle, what, size, ctypes.byref(answer), None))


def _of_level_zero(handle: ctypes.c_void_p) -> str | None:
    return _uuid_text(level_zero.device_uuid(level_zero_library.open_library(), handle))


def _uuid_text(uuid: bytes) -> str | None:
    return f"uuid {uuid.hex()}" if any(uuid) else None


_CLASSES = ("gpu", "cpu")

_BACKENDS = ("level_zero", "opencl")

_ASPECT = "has_aspect_"


@dataclass(frozen=True)
class DeviceInfo:
    """The properties of a SYCL device: the columns of table ``devices`` that exist before anything runs.

    Attributes:
        device: SYCL filter string, such as ``level_zero:gpu:0``: its name in every other table.
        device_class: ``gpu`` or ``cpu``.
        sub_group_sizes: empty if the device offers no sub-groups.
        max_clock_mhz: None if the driver does not say.
        aspects: names of SYCL's aspects (``fp64``, ``usm_shared_allocations``), and of OpenCL's extensions that a
            pattern may require (`xebench.system.runtime.devices`).
        hardware_id: UUID or PCI address, which distinguish equal devices; None if the driver gives neither.
    """

    device: str
    name: str
    vendor: str
    backend: str
    driver_version: str
    device_class: str
    compute_units: int
    sub_group_sizes: tuple[int, ...]
    local_memory_bytes: int
    global_memory_bytes: int
    global_cache_bytes: int
    max_work_group_size: int
    max_alloc_bytes: int
    max_clock_mhz: int | None
    timer_resolution_ns: int
    aspects: tuple[str, ...]
    hardware_id: str | None = None

    def to_row(self) -> dict[str, Any]:
        """The row of table ``devices``; lists become text, as the table keeps them."""
        return asdict(self) | {
            "sub_group_sizes": ",".join(map(str, self.sub_group_sizes)),
            "aspects": ",".join(self.aspects),
        }


@dataclass(frozen=True)
class Selection:
    """The device that was chosen, and a notice on the choice for the user."""

    device: DeviceInfo
    notice: str | None = None


def list_devices() -> list[DeviceInfo]:
    """Every usable device: GPUs on Level Zero, GPUs on OpenCL, other GPUs, then CPUs (see `in_order`).

    A GPU that two drivers offer is listed once for each.

    Raises:
        BrokenEnvironment: the SYCL runtime cannot be loaded.
    """
    load()
    import dpctl

    return in_order(describe(device) for device in dpctl.get_devices() if device_class(device) is not None)


def select_device(request: str = "auto", require_gpu: bool = False) -> Selection:
    """Choose a device.

    Args:
        request: ``auto`` (a GPU if there is one, else the CPU device with a notice), ``gpu``, ``cpu``, or a
            SYCL filter string such as ``opencl:gpu:1``.
        require_gpu: accept nothing but a GPU.

    Raises:
        NoDevice: nothing fits; the message says what there is.
        BrokenEnvironment: the SYCL runtime cannot be loaded.
    """
    devices = list_devices()
    if request in ("auto", *_CLASSES):
        return choose(devices, request, require_gpu)
    return _by_filter(devices, request, require_gpu)


def choose(devices: Sequence[DeviceInfo], request: str, require_gpu: bool = False) -> Selection:
    """The first of ``devices`` (in order, see :func:`in_order`) that answers ``auto``, ``gpu`` or ``cpu``.

    Raises:
        NoDevice: there is none.
    """
    if require_gpu and request == "cpu":
        raise NoDevice("a GPU is required, but the CPU device is none: leave out one of the two options")
    wanted = "gpu" if require_gpu or request == "gpu" else request
    first = next((device for device in devices if wanted in ("auto", device.device_class)), None)
    if first is None:
        what = "SYCL device" if wanted == "auto" else wanted.upper()
        step = ": see xebench doctor, or name one of these with --device" if devices else ""
        raise NoDevice(f"no {what} found ({_available(devices)}){step}")
    if request == "auto" and first.device_class != "gpu":
        notice = f"no GPU found: falling back to the CPU device {first.device} ({first.name}); see xebench doctor"
        return Selection(first, notice)
    return Selection(first, other_gpus(first, devices))


def other_gpus(taken: DeviceInfo, devices: Iterable[DeviceInfo]) -> str | None:
    """The GPUs that are not taken, and why; None if there is no other on the back end of the one that is."""
    alike = [each for each in devices if each.backend == taken.backend and each.device_class == "gpu"]
    others = [f"{each.device} ({_units(each)})" for each in alike if each != taken]
    if taken.device_class != "gpu" or not others:
        return None
    chosen = f"{taken.device} ({_units(taken)}) is taken, as no other has more compute units"
    return f"{len(others) + 1} GPUs: {chosen}; --device takes {', '.join(others)}"


def _units(device: DeviceInfo) -> str:
    return f"{device.name}, {device.compute_units} compute units"


def in_order(devices: Iterable[DeviceInfo]) -> list[DeviceInfo]:
    """Devices in the order of preference: of one back end the GPU with more compute units, else as the driver has them.

    So an integrated GPU comes after a card.
    """

    def preference(device: DeviceInfo) -> tuple[int, int, int]:
        backend = _BACKENDS.index(device.backend) if device.backend in _BACKENDS else len(_BACKENDS)
        return _CLASSES.index(device.device_class), backend, -device.compute_units

    return sorted(devices, key=preference)


def describe(device: Device) -> DeviceInfo:
    """The facts of a ``dpctl.SyclDevice``, which must be a GPU or a CPU."""
    kind = device_class(device)
    assert kind is not None
    aspects = (name for name in dir(device) if name.startswith(_ASPECT))
    return DeviceInfo(
        device=device.filter_string,
        name=device.name.strip(),
        vendor=device.vendor.strip(),
        backend=device.backend.name,
        driver_version=device.driver_version,
        device_class=kind,
        compute_units=device.max_compute_units,
        sub_group_sizes=tuple(sorted(size for size in device.sub_group_sizes or () if size > 0)),
        local_memory_bytes=device.local_mem_size,
        global_memory_bytes=device.global_mem_size,
        global_cache_bytes=device.global_mem_cache_size,
        max_work_group_size=device.max_work_group_size,
        max_alloc_bytes=device.max_mem_alloc_size,
        max_clock_mhz=device.max_clock_frequency or None,
        timer_resolution_ns=device.profiling_timer_resolution,
        aspects=(
            *(name.removeprefix(_ASPECT) for name in aspects if getattr(device, name)),
            *extensions_of(device),
            *((SEVERAL_DEVICES,) if has_several(device) else ()),
        ),
        hardware_id=hardware_id(device),
    )


def open_device(filter_string: str) -> Any:
    """The ``dpctl.SyclDevice`` of a filter string; None if there is none, or it is neither GPU nor CPU."""
    import dpctl

    try:
        device = dpctl.SyclDevice(filter_string)
    except (dpctl.SyclDeviceCreationError, ValueError):
        return None
    return device if device_class(device) else None


def device_class(device: Device) -> str | None:
    """``gpu`` or ``cpu``; None for what is neither."""
    return "gpu" if device.is_gpu else "cpu" if device.is_cpu else None


def _by_filter(devices: Sequence[DeviceInfo], request: str, require_gpu: bool) -> Selection:
    chosen = open_device(request)
    if chosen is None:
        raise NoDevice(f"no device {request!r} ({_available(devices)})")
    device = describe(chosen)
    if require_gpu and device.device_class != "gpu":
        raise NoDevice(f"a GPU is required, but {device.device} is a CPU ({_available(devices)})")
    return Selection(device)


def _available(devices: Sequence[DeviceInfo]) -> str:
    """The devices that there are instead, or why there are none."""
    own_driver = find_library(CPU_DRIVER_LIBRARY)
    hiding = hiding_variables(os.environ, own_driver)
    hidden = f"; {hiding} may hide others" if hiding else ""
    if devices:
        return "available: " + ", ".join(f"{device.device} ({device.name})" for device in devices) + hidden
    if hiding:
        return f"{hiding} may hide it: unset it"
    if numba_sycl.loading.came_late:
        return "the program asked dpctl for devices before it imported xebench: import xebench first"
    if own_driver is None:
        return f"the CPU device's driver is missing: {mend_command([CPU_DRIVER])}"
    return "no driver offers one: run xebench doctor"


#: The sub-group size of nearly every kernel of the guide that requires one.
GUIDE_SUB_GROUP_SIZE: Final = 16
#: That of its example on occupancy, Xe-LP (G 516, 913).
EXAMPLES_SUB_GROUP_SIZE: Final = 8

#: Axes whose values a device limits: whole numbers, refused where it offers no such.
LIMITED_AXES: Final = ("work_group_size", "sub_group_size")

#: Listed among the aspects of a device, though SYCL has none for it.
SEVERAL_DEVICES: Final = "several_devices"

# Requirement to the SYCL aspect that grants it, as dpctl names it (``has_aspect_...``), and what it is.
_ASPECTS = {
    "fp64": ("fp64", "double precision"),
    "fp16": ("fp16", "half precision"),
    "atomic64": ("atomic64", "64-bit atomics"),
    "usm_atomic_host": ("usm_atomic_host_allocations", "atomics in USM host allocations"),
    "usm_device": ("usm_device_allocations", "USM device allocations"),
    "usm_shared": ("usm_shared_allocations", "USM shared allocations"),
    "usm_host": ("usm_host_allocations", "USM host allocations"),
    SEVERAL_DEVICES: (SEVERAL_DEVICES, "other device of its platform beside it, and no sub-devices"),
}


def missing(device: DeviceInfo, names: Sequence[str] = (), **numbers: int) -> str | None:
    """Return why ``device`` cannot run something that needs all of these, or None if it can.

    Args:
        device: the device.
        names: capabilities (:func:`known_requirements`), or numbers written as ``work_group_size=512``.
        numbers: ``work_group_size``, ``local_memory_bytes`` and ``global_memory_bytes`` are least amounts;
            ``sub_group_size`` is one that the device must offer, ``matrix_lanes`` the width of its matrix engine.

    Raises:
        ValueError: a name that is not known, or a number that is none.
    """
    for requirement in (*names, *(f"{name}={number}" for name, number in numbers.items())):
        if fault := fault_of_requirement(requirement):
            raise ValueError(fault)
        name, equals, number = (part.strip() for part in requirement.partition("="))
        if reason := _NUMBERS[name](device, int(number)) if equals else _lacks_name(device, name):
            return reason
    return None


def usual_sub_group_size(offered: Sequence[int]) -> int:
    """The sub-group size of a kernel that must require one: the guide's 16 where it is offered, else the largest.

    Args:
        offered: sizes that a device offers; of none the answer is 16, which it then says it lacks.
    """
    return GUIDE_SUB_GROUP_SIZE if GUIDE_SUB_GROUP_SIZE in offered else max(offered, default=GUIDE_SUB_GROUP_SIZE)


def narrow_sub_group_size(offered: Sequence[int]) -> int:
    """The size in the guide's example on occupancy, 8, where it is offered, else the smallest.

    Args:
        offered: sizes that a device offers; of none the answer is 8, which it then says it lacks.
    """
    return (
        EXAMPLES_SUB_GROUP_SIZE if EXAMPLES_SUB_GROUP_SIZE in offered else min(offered, default=EXAMPLES_SUB_GROUP_SIZE)
    )


def known_requirements() -> tuple[str, ...]:
    """Every requirement that :func:`missing` understands; those that take a number end in ``=``."""
    kinds = ("sub_groups", "onemkl", "intel_gpu", "gpu", "cpu", "level_zero", "opencl")
    return (*_ASPECTS, *EXTENSIONS, *kinds, *(f"{name}=" for name in _NUMBERS))


def fault_of_requirement(requirement: str) -> str | None:
    """Describe what is wrong with a word of ``requires``; None if :func:`missing` understands it."""
    name, equals, number = (part.strip() for part in requirement.partition("="))
    if f"{name}{equals}" not in known_requirements():
        return f"unknown requirement {name!r}; known are {', '.join(known_requirements())}"
    if equals and not number.isdecimal():
        return f"requirement {name}={number} is no whole number"
    return None


def _lacks_name(device: DeviceInfo, name: str) -> str | None:
    if name in _ASPECTS:
        aspect, what = _ASPECTS[name]
        fits, reason = aspect in device.aspects, f"the device has no {what} ({name})"
    elif name in EXTENSIONS:
        extension, what = EXTENSIONS[name]
        fits = extension in device.aspects or (device.backend == "level_zero" and name in ON_LEVEL_ZERO)
        reason = f"the device has no {what} ({extension})"
    elif name == "onemkl":
        fits = device.device_class != "gpu" or "intel" in device.vendor.lower()
        reason = f"oneMKL computes on CPUs and on Intel's GPUs, the device is {device.name}"
    elif name == "intel_gpu":
        fits = device.device_class == "gpu" and "intel" in device.vendor.lower()
        reason = f"needs a GPU of Intel, the device is {device.name}"
    elif name == "sub_groups":
        fits, reason = bool(device.sub_group_sizes), "the device offers no sub-groups"
    elif name in ("gpu", "cpu"):
        here = device.device_class
        fits, reason = here == name, f"needs a {name.upper()}, the device is a {here.upper()}"
    else:  # level_zero or opencl
        fits, reason = device.backend == name, f"needs the {name} backend, the device is on {device.backend}"
    return None if fits else reason


def _lacks_work_group(device: DeviceInfo, wanted: int) -> str | None:
    most = device.max_work_group_size
    return None if wanted <= most else f"needs work-groups of {wanted}, the device allows {most}"


def _lacks_sub_group(device: DeviceInfo, wanted: int) -> str | None:
    if wanted in device.sub_group_sizes:
        return None
    offered = ", ".join(map(str, device.sub_group_sizes)) or "none"
    return f"needs sub-groups of {wanted}, the device offers {offered}"


def _lacks_matrix_engine(device: DeviceInfo, wanted: int) -> str | None:
    """Drivers do not report the engine's width: it is that of the vector engine, and so of the smallest sub-group."""
    lanes = min(device.sub_group_sizes, default=0)
    if reason := _lacks_name(device, "xmx"):
        return reason
    return None if lanes == wanted else f"needs a matrix engine (XMX) of {wanted} lanes, the device has one of {lanes}"


def _lacks_local_memory(device: DeviceInfo, wanted: int) -> str | None:
    most = device.local_memory_bytes
    return None if wanted <= most else f"needs {wanted} B of local memory a work-group, the device has {most} B"


def _lacks_global_memory(device: DeviceInfo, wanted: int) -> str | None:
    most = device.global_memory_bytes
    return None if wanted <= most else f"needs {gib(wanted)} of device memory, the device has {gib(most)}"


def gib(size_bytes: float) -> str:
    """A size in words: ``1.50 GiB``."""
    return f"{size_bytes / 2**30:.2f} GiB"


_NUMBERS: Mapping[str, Callable[[DeviceInfo, int], str | None]] = {
    "work_group_size": _lacks_work_group,
    "sub_group_size": _lacks_sub_group,
    "matrix_lanes": _lacks_matrix_engine,
    "local_memory_bytes": _lacks_local_memory,
    "global_memory_bytes": _lacks_global_memory,
}
