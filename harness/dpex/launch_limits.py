"""What a device can launch, and the check of a launch against it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from harness.dpex.device_kernel import DeviceKernel
from harness.dpex.dpex_errors import IndexSpaceError, UnsupportedByDevice
from harness.dpex.signature import index_space_extents


@dataclass(frozen=True)
class DeviceLimits:
    """Launch limits of a device; extents are in SYCL's order, the fastest dimension last."""

    name: str
    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]
    local_memory_bytes: int


@lru_cache(maxsize=32)
def limits_of(device: Any) -> DeviceLimits:
    """The limits of a ``dpctl.SyclDevice``."""
    return DeviceLimits(
        name=device.name,
        max_work_group_size=device.max_work_group_size,
        max_work_item_sizes=tuple(device.max_work_item_sizes3d),
        local_memory_bytes=device.local_mem_size,
    )


def check_local_memory(kernel: DeviceKernel, local_bytes: int) -> None:
    """Raise UnsupportedByDevice when the LocalAccessors ask for more than the device has."""
    limits = limits_of(kernel.device)
    if local_bytes > limits.local_memory_bytes:
        raise UnsupportedByDevice(
            f"kernel {kernel.compiled.name} asks for {local_bytes} bytes of local memory; "
            f"{limits.name} has {limits.local_memory_bytes}"
        )


def check_index_space(kernel: DeviceKernel, index_space: Any) -> None:
    """Check an index space against the kernel and its device.

    Raises:
        IndexSpaceError: dimensions, divisibility or a required work-group size are not met.
        UnsupportedByDevice: the work-group is larger than the device or the kernel allows.
    """
    name = kernel.compiled.name
    signature = kernel.compiled.signature
    extents, local = index_space_extents(index_space)
    item = "Item" if local is None else "NdItem"
    if (item, len(extents)) != (signature.item, signature.ndim):
        raise IndexSpaceError(
            f"kernel {name} was compiled for {signature.item}<{signature.ndim}>, not for {item}<{len(extents)}>"
        )
    if any(extent < 1 for extent in (*extents, *(local or ()))):
        raise IndexSpaceError(f"kernel {name}: an extent of {index_space} is not positive")
    required = kernel.compiled.options.work_group_size
    group = local or required
    if group is None:
        return
    if len(group) != len(extents) or any(g % w for g, w in zip(extents, group, strict=True)):
        raise IndexSpaceError(f"kernel {name}: global size {extents} is not a multiple of the work-group {group}")
    if required is not None and tuple(group) != required:
        raise IndexSpaceError(f"kernel {name} requires work-groups of {required}, not {group}")
    _check_work_group(kernel, tuple(group))


def _check_work_group(kernel: DeviceKernel, group: tuple[int, ...]) -> None:
    name = kernel.compiled.name
    limits = limits_of(kernel.device)
    items = prod(group)
    allowed = min(limits.max_work_group_size, kernel.max_work_group_size or limits.max_work_group_size)
    if items > allowed:
        raise UnsupportedByDevice(f"kernel {name}: a work-group of {items}; {limits.name} allows {allowed}")
    in_sycl_order = (1, 1, *group[::-1])[-3:]
    if any(size > most for size, most in zip(in_sycl_order, limits.max_work_item_sizes, strict=True)):
        raise UnsupportedByDevice(
            f"kernel {name}: work-group {group}; {limits.name} allows {limits.max_work_item_sizes[::-1]}"
        )
