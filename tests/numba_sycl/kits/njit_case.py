"""The launch of a kernel of `njit_kernels`: its arguments, and what njit makes of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Final

import numpy as np
from kernel_case import KernelCase, run
from njit_expressions import INPUTS
from njit_kernels import BINS, ROW, njit_kernel
from njit_sources import device_source, reference_source
from numpy.typing import NDArray

from numba_sycl.testing import Comparison

_VIEWS: Final = ("whole", "whole", "whole", "backwards", "steps", "steps back", "transposed")


def _numbers(rng: np.random.Generator, of: str, dimensions: int) -> NDArray[Any]:
    """Numbers of all sizes, and those at which operations change their ways."""
    shape = tuple(int(extent) for extent in rng.integers(*((7, 40) if dimensions == 1 else (3, 9)), dimensions))
    kind = np.dtype(of).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind == "c":
        return ((rng.integers(-64, 64, shape) + 1j * rng.integers(-64, 64, shape)) / 4).astype(of)
    if kind == "f":
        special = np.array([np.nan, np.inf, -np.inf, -0.0], of)
        numbers = (rng.integers(-64, 64, shape) / 4).astype(of)
        return np.where(rng.random(shape) < 0.1, rng.choice(special, shape), numbers)
    limits = np.iinfo(of)
    small = rng.integers(0 if kind == "u" else -50, 50, shape).astype(of)
    wide = rng.integers(limits.min, limits.max, shape, dtype=np.dtype(of), endpoint=True)
    wide = np.where(rng.random(shape) < 0.3, rng.choice(np.array([limits.min, limits.max], of), shape), wide)
    return np.where(rng.random(shape) < 0.2, wide, small)


def njit_case(seed: int, sub_group_size: int) -> KernelCase:
    """The case of a seed; njit computes what is expected.

    Args:
        seed: seed of the kernel and of its arguments.
        sub_group_size: size that kernels may require.
    """
    kernel, rng = njit_kernel(seed), np.random.default_rng(seed)
    items = int(np.prod(kernel.global_size))
    arrays = {name: np.zeros((items, ROW), name[2:]) for name in kernel.results}
    arrays |= {name: np.full(BINS, 5, name[2:]) for name in kernel.accumulators}
    arguments: list[list[Any]] = [["array", name, "whole"] for name in arrays]
    for name in kernel.inputs:
        arrays[name] = _numbers(rng, *INPUTS[name])
        arguments.append(["array", name, str(rng.choice(_VIEWS if INPUTS[name][1] == 2 else _VIEWS[:-1]))])
    for low, high in ((1, 7), (-90, 90), (1, 4)):
        number = int(rng.integers(low, high)) * (1 if low != 1 or high != 4 or rng.random() < 0.6 else -1)
        arguments.append(["number", str(rng.choice(("int64", "int64", "int64", "int32"))), number])
    if kernel.exchanged:
        arguments.append(["local", int(np.prod(kernel.local_size or ())), kernel.exchanged])
    source = device_source(kernel, sub_group_size)
    case = KernelCase(source, kernel.global_size, kernel.local_size, arrays, arguments, {}, {})
    given = case.on_host()
    namespace: dict[str, Any] = {"__name__": "reference"}
    exec(compile(reference_source(kernel), f"reference {seed}", "exec"), namespace)
    namespace["run"](*given, *([np.zeros(1, kernel.exchanged)] if kernel.exchanged else []))
    results = (*kernel.results, *kernel.accumulators)
    return dataclasses.replace(case, expected=dict(zip(results, given, strict=False)))


def check(seed: int, folder: Path) -> Comparison:
    """Compare the kernel of a seed with njit."""
    import dpctl

    return run(njit_case(seed, min(dpctl.SyclDevice().sub_group_sizes)), folder)
