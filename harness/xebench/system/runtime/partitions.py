"""Devices that can work beside one: others of its platform, or parts of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numba_sycl.sycl_types import Device

#: Stacks of a GPU, each with memory of its own; the two words are one on Intel's GPUs (G 17254).
DOMAINS: Final = ("next_partitionable", "numa")


def has_several(device: Device) -> bool:
    """True if there is another device of its platform, or it can be cut in two."""
    cuts = partitions(device.max_compute_units, 2)
    return len(devices_alike(device)) > 1 or any(len(parts_of(device, partition)) > 1 for partition, _ in cuts)


def devices_alike(device: Device, get_devices: Callable[[], Sequence[Any]] | None = None) -> list[Any]:
    """The device and after it the others of its platform and type, which can share a context with it."""
    import dpctl

    listed = get_devices or partial(dpctl.get_devices, backend=device.backend, device_type=device.device_type)
    own = _platform(device)
    return [device, *(other for other in listed() if other != device and _platform(other) == own)]


def partitions(compute_units: int, count: int) -> list[tuple[Any, str]]:
    """The ways to cut a device, as ``create_sub_devices`` takes them, each with its description; the best first."""
    domains: list[tuple[Any, str]] = [(domain, "by affinity domain") for domain in DOMAINS]
    if compute_units < count:
        return domains
    return [*domains, ([compute_units // count] * count, "by count")]


def parts_of(device: Device, partition: Any) -> Sequence[Any]:
    """The sub-devices of a device; none if it cannot be cut so."""
    import dpctl

    try:
        parts: Sequence[Any] = device.create_sub_devices(partition=partition)
    except dpctl.SyclSubDeviceCreationError:
        return ()
    return parts


def _platform(device: Device) -> tuple[str, ...]:
    platform = device.sycl_platform
    return platform.name, platform.vendor, platform.version
