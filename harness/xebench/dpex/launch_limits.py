"""The launch limits of a device, and the check of a launch against them."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from xebench.dpex.device_kernel import DeviceKernel
from xebench.dpex.dpex_errors import IndexSpaceError, UnsupportedByDevice
from xebench.dpex.signature import index_space_extents

# dpctl asks the driver at each look, and a launch with other LocalAccessors looks again.
_local_memory_bytes = lru_cache(maxsize=32)(lambda device: int(device.local_mem_size))


def check_local_memory(kernel: DeviceKernel, local_bytes: int) -> None:
    """Raise UnsupportedByDevice if the LocalAccessors need more memory than the device has."""
    available = _local_memory_bytes(kernel.device)
    if local_bytes > available:
        raise UnsupportedByDevice(
            f"kernel {kernel.compiled.name} asks for {local_bytes} bytes of local memory; "
            f"{kernel.device.name} has {available}"
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
    if signature.item and (item, len(extents)) != (signature.item, signature.ndim):  # a kernel may take no item
        raise IndexSpaceError(
            f"kernel {name} was compiled for {signature.item}<{signature.ndim}>, not for {item}<{len(extents)}>"
        )
    if any(extent < 1 for extent in (*extents, *(local or ()))):
        raise IndexSpaceError(f"kernel {name}: an extent of {index_space} is not positive")
    required = kernel.compiled.options.work_group_size
    if required is not None:
        required += (1,) * (len(extents) - len(required))
    group = local or required
    if group is None:
        return
    if len(group) != len(extents) or any(g % w for g, w in zip(extents, group, strict=True)):
        raise IndexSpaceError(f"kernel {name}: global size {extents} is not a multiple of the work-group {group}")
    if required is not None and tuple(group) != required:
        raise IndexSpaceError(f"kernel {name} requires work-groups of {required}, not {group}")
    _check_work_group(kernel, tuple(group))


def _check_work_group(kernel: DeviceKernel, group: tuple[int, ...]) -> None:
    name, device = kernel.compiled.name, kernel.device
    items = prod(group)
    allowed = min(device.max_work_group_size, kernel.max_work_group_size or device.max_work_group_size)
    if items > allowed:
        raise UnsupportedByDevice(f"kernel {name}: a work-group of {items}; {device.name} allows {allowed}")
    longest = tuple(device.max_work_item_sizes3d)[::-1]  # dpctl has SYCL's order, the fastest dimension last
    if any(size > most for size, most in zip(group, longest, strict=False)):
        raise UnsupportedByDevice(f"kernel {name}: work-group {group}; {device.name} allows {longest}")
