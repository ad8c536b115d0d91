"""The requirements of a case that a device lacks, in one line. Pure: it reads a :class:`DeviceInfo`, never a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from xebench.system.runtime.devices import EXTENSIONS, ON_LEVEL_ZERO, DeviceInfo

#: Of nearly every kernel of the guide that requires one.
GUIDE_SUB_GROUP_SIZE: Final = 16
#: That of its example on occupancy, Xe-LP (G 516, 913).
EXAMPLES_SUB_GROUP_SIZE: Final = 8

#: Axes whose values a device limits: whole numbers, refused where it offers no such.
LIMITED_AXES: Final = ("work_group_size", "sub_group_size")

# Requirement to the SYCL aspect that grants it, as dpctl names it (``has_aspect_...``), and what it is.
_ASPECTS = {
    "fp64": ("fp64", "double precision"),
    "fp16": ("fp16", "half precision"),
    "atomic64": ("atomic64", "64-bit atomics"),
    "usm_atomic_host": ("usm_atomic_host_allocations", "atomics in USM host allocations"),
    "usm_device": ("usm_device_allocations", "USM device allocations"),
    "usm_shared": ("usm_shared_allocations", "USM shared allocations"),
    "usm_host": ("usm_host_allocations", "USM host allocations"),
}


def missing(device: DeviceInfo, names: Sequence[str] = (), **numbers: int) -> str | None:
    """Why ``device`` cannot run something that needs all of these, or None if it can.

    Args:
        device: the device.
        names: capabilities (:func:`known_requirements`), or numbers written as ``work_group_size=512``.
        numbers: ``work_group_size``, ``local_memory_bytes`` and ``global_memory_bytes`` are least amounts;
            ``sub_group_size`` is one that the device must offer, ``matrix_lanes`` the width of its matrix engine.

    Raises:
        ValueError: a name that is not known, or a number that is none.
    """
    for name in names:
        key, equals, value = (part.strip() for part in name.partition("="))
        reason = _lacks_number(device, key, value) if equals else _lacks_name(device, key)
        if reason:
            return reason
    reasons = (_lacks_number(device, key, value) for key, value in numbers.items())
    return next((reason for reason in reasons if reason), None)


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
    return (
        *_ASPECTS,
        *EXTENSIONS,
        "sub_groups",
        "intel_gpu",
        "gpu",
        "cpu",
        "level_zero",
        "opencl",
        *(f"{name}=" for name in _NUMBERS),
    )


def _lacks_name(device: DeviceInfo, name: str) -> str | None:
    if name in _ASPECTS:
        aspect, what = _ASPECTS[name]
        fits, reason = aspect in device.aspects, f"the device has no {what} ({name})"
    elif name in EXTENSIONS:
        extension, what = EXTENSIONS[name]
        fits = extension in device.aspects or (device.backend == "level_zero" and name in ON_LEVEL_ZERO)
        reason = f"the device has no {what} ({extension})"
    elif name == "intel_gpu":
        fits = device.device_class == "gpu" and "intel" in device.vendor.lower()
        reason = f"needs a GPU of Intel, the device is {device.name}"
    elif name == "sub_groups":
        fits, reason = bool(device.sub_group_sizes), "the device offers no sub-groups"
    elif name in ("gpu", "cpu"):
        here = device.device_class
        fits, reason = here == name, f"needs a {name.upper()}, the device is a {here.upper()}"
    elif name in ("level_zero", "opencl"):
        fits, reason = device.backend == name, f"needs the {name} backend, the device is on {device.backend}"
    else:
        raise ValueError(f"unknown requirement {name!r}; known are {', '.join(known_requirements())}")
    return None if fits else reason


def _lacks_number(device: DeviceInfo, name: str, value: int | str) -> str | None:
    if name not in _NUMBERS:
        raise ValueError(f"unknown requirement {name!r}; known are {', '.join(known_requirements())}")
    try:
        wanted = int(value)
    except ValueError:
        raise ValueError(f"requirement {name}={value} is no whole number") from None
    return _NUMBERS[name](device, wanted)


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
