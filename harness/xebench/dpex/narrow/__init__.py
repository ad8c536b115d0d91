"""Index arithmetic in 32 bits, for GPUs, which have no 64-bit integers or have them at half the rate.

A kernel computes indices as 64-bit integers. Where a launch has fewer than 2**30 work-items in each dimension and fewer
than 2**30 elements in each array, and 64-bit numbers within these bounds, most of them fit 32 bits:

- :mod:`function_text` reads a function of LLVM IR;
- :mod:`intervals` proves what fits;
- :mod:`narrowing` rewrites it. What is not proved stays as it is.

A launch beyond the bounds takes the module as it was (:data:`BOUND`).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, Final

import numpy as np

from xebench.runtime.variables import narrow_switch

#: Launches below this take the narrowed module: sums of two such numbers fit 32 bits, with a sign.
BOUND: Final = 1 << 30


def is_narrow(device: Any) -> bool:
    """Whether a ``dpctl.SyclDevice`` is given narrowed modules."""
    switch = narrow_switch()
    return switch == "on" or (switch == "gpu" and bool(device.is_gpu))


def within_bound(extents: Iterable[int], arguments: Iterable[Any]) -> bool:
    """Whether a launch is one that a narrowed module is made for.

    Args:
        extents: of its index space.
        arguments: of the kernel: arrays, LocalAccessors and numbers.
    """
    return all(extent < BOUND for extent in extents) and all(map(_is_within, arguments))


def _is_within(argument: Any) -> bool:
    size = getattr(argument, "size", None)
    if size is None and hasattr(argument, "_shape"):  # a LocalAccessor
        size = prod(argument._shape)
    if size is None or isinstance(argument, np.generic):
        return not isinstance(argument, int | np.integer) or abs(int(argument)) <= BOUND
    return 0 < int(size) < BOUND  # an array without elements may have extents of any length
