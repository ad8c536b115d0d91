"""Index arithmetic in 32 bits, for GPUs, which have no 64-bit integers or have them at half the rate.

A kernel computes indices as 64-bit integers. Where arrays have fewer than 2**30 elements, and neither an extent of the
index space nor a 64-bit argument is above a limit of the kernel, nor any argument negative where that matters, most
fit 32 bits:

- :mod:`function_text` reads a function of LLVM IR, and has the effect of operations on intervals;
- :mod:`intervals` proves what fits;
- :mod:`indices` finds what an access bounds;
- :mod:`narrowing` rewrites it. What is not proved stays as it is;
- :mod:`module` does so with the largest limit under which no more could be narrowed.

A launch beyond the limit, or on another device, takes the module as LLVM made it. A narrowed one is also without tests
whose answer the intervals give, and without fences of global memory that are of no use.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from math import prod
from typing import Any, Final

import numpy as np

from numba_sycl.sycl_types import Device

#: Arrays have fewer elements, and no limit is larger: sums of two such numbers fit 32 bits, with a sign.
BOUND: Final = 1 << 30


def narrow_switch() -> str:
    """``NUMBA_SYCL_NARROW``: where indices of kernels are narrowed to 32 bits.

    On "gpu"s, the default; "on", everywhere; "check", everywhere, each launch compared with one in 64 bits; or "off".
    """
    return os.environ.get("NUMBA_SYCL_NARROW") or "gpu"


def is_narrow(device: Device) -> bool:
    """True if a ``dpctl.SyclDevice`` is given narrowed modules."""
    switch = narrow_switch()
    return switch in ("on", "check") or (switch == "gpu" and bool(device.is_gpu))


def is_within(limit: int, extents: Iterable[int], arguments: Iterable[Any]) -> bool:
    """True if a narrowed module is valid for a launch.

    Args:
        limit: limit of the kernel; negative for numbers of either sign.
        extents: extents of its index space.
        arguments: arguments of the kernel: arrays, LocalAccessors and numbers.
    """
    least, most = min(limit, 0), abs(limit)
    return all(extent <= most for extent in extents) and all(_fits(argument, least, most) for argument in arguments)


def _fits(argument: Any, least: int, most: int) -> bool:
    if isinstance(argument, int):
        return least <= argument <= most
    if isinstance(argument, np.generic):
        if not isinstance(argument, np.signedinteger):
            return True
        return least <= int(argument) <= most if argument.itemsize == 8 else least < 0 or int(argument) >= 0
    size = getattr(argument, "size", None)
    if size is None and hasattr(argument, "_shape"):  # a LocalAccessor
        size = prod(argument._shape)
    return size is None or 0 < size < BOUND  # an array without elements may have extents of any length


__all__ = ["is_narrow", "is_within", "module", "narrow_switch"]
