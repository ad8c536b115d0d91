"""The claims' kernels in numba-dpex. Imported when a claim is checked, after the SYCL runtime was loaded."""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from xebench.dpex import SpirvCache, compile_kernel, kernel, native, sub_group, vector
from xebench.dpex import kernel_api as kapi
from xebench.isa.compilation import Source
from xebench.runtime.tensor import empty

LANES = 16
PER_ITEM = 16  # elements that a work-item fills or copies
BINS = 256
SHARE = 16  # of these bins each lane of a sub-group holds
ORDER = 12  # points along an edge of a spectral element
LAYERS = 6  # of its layers, how many a work-group handles at a time
LOGARITHMS = 1024


def spirv(function: Any, *arguments: Any, group: int = 256) -> Source:
    """A kernel over a 1-D range, as SPIR-V.

    Args:
        function: made by ``xebench.dpex.kernel``.
        arguments: dtype names for arrays of one dimension; other arguments as they are.
        group: work-group size; it does not change the code.
    """
    values = [empty(1, dtype=value) if isinstance(value, str) else value for value in arguments]
    compiled = compile_kernel(function, kapi.NdRange((group,), (group,)), values, cache=SpirvCache())
    return Source(compiled.spirv)


def _by_name(kernels: Sequence[Any], *arguments: Any) -> dict[str, Source]:
    return {kernel.py_func.__name__: spirv(kernel, *arguments) for kernel in kernels}


@kernel(sub_group_size=LANES)
def fill_contiguous(item: kapi.NdItem, y: Any, value: Any) -> None:
    first = item.get_global_id(0) * PER_ITEM
    for k in range(PER_ITEM):
        y[first + k] = value


@kernel(sub_group_size=LANES)
def fill_interleaved(item: kapi.NdItem, y: Any, value: Any) -> None:
    i = item.get_global_id(0)
    first = i // LANES * LANES * PER_ITEM + i % LANES
    for k in range(PER_ITEM):
        y[first + k * LANES] = value


@kernel(sub_group_size=LANES)
def copy_ones(item: kapi.NdItem, x: Any, y: Any) -> None:
    i = item.get_global_id(0)
    first = i // LANES * LANES * PER_ITEM + i % LANES
    for k in range(PER_ITEM):
        y[first + k * LANES] = x[first + k * LANES]


@kernel(sub_group_size=LANES)
def copy_fours(item: kapi.NdItem, x: Any, y: Any) -> None:
    i = item.get_global_id(0)
    first = i // LANES * LANES * PER_ITEM + i % LANES * 4
    for k in range(PER_ITEM // 4):
        j = first + k * LANES * 4
        vector.store4(y, j, vector.load4(x, j))


@kernel(sub_group_size=LANES)
def copy_blocks(item: kapi.NdItem, x: Any, y: Any) -> None:
    first = item.get_global_id(0) // LANES * LANES * PER_ITEM
    for k in range(PER_ITEM // 8):
        j = first + k * LANES * 8
        sub_group.block_write8(y, j, sub_group.block_read8(x, j))


@kernel(sub_group_size=LANES)
def copy_by_lane(item: kapi.NdItem, x: Any, y: Any) -> None:
    i = item.get_global_id(0)
    y[i] = x[i]


@kernel(sub_group_size=LANES)
def copy_by_block(item: kapi.NdItem, x: Any, y: Any) -> None:
    first = item.get_global_id(0) // LANES * LANES
    sub_group.block_write(y, first, sub_group.block_read(x, first))


@cache
def accesses() -> Mapping[str, Source]:
    """Fills and copies of int32 at a sub-group size of 16, by name."""
    copies = (copy_ones, copy_fours, copy_blocks, copy_by_lane, copy_by_block)
    return _by_name((fill_contiguous, fill_interleaved), "int32", 7) | _by_name(copies, "int32", "int32")


@kernel(sub_group_size=LANES)
def bins_of_item(item: kapi.NdItem, data: Any, total: Any, steps: Any) -> None:
    bins = kapi.PrivateArray(BINS, np.uint32, fill_zeros=True)
    first = item.get_group().get_group_id(0) * item.get_local_range(0) * steps + item.get_local_id(0)
    for step in range(steps):
        word = data[first + step * item.get_local_range(0)]
        for _ in range(8):
            bins[word & (BINS - 1)] += np.uint32(1)
            word >>= 8
    for k in range(BINS):
        kapi.AtomicRef(total, k).fetch_add(np.int32(bins[k]))


@kernel(sub_group_size=LANES)
def bins_of_sub_group(item: kapi.NdItem, data: Any, total: Any, steps: Any) -> None:
    bins = kapi.PrivateArray(SHARE, np.uint32, fill_zeros=True)
    lane = sub_group.local_id()
    first = item.get_group().get_group_id(0) * item.get_local_range(0) * steps + item.get_local_id(0)
    for step in range(steps):
        word = data[first + step * item.get_local_range(0)]
        for source in range(LANES):
            shared = sub_group.broadcast(word, source)
            for _ in range(8):
                if shared & (LANES - 1) == lane:
                    bins[(shared & (BINS - 1)) >> 4] += np.uint32(1)
                shared >>= 8
    for k in range(SHARE):
        kapi.AtomicRef(total, k * LANES + lane).fetch_add(np.int32(bins[k]))


@cache
def histograms() -> Mapping[str, Source]:
    """256 counters of 32 bits, all in every work-item or shared by the lanes of a sub-group, by name."""
    return _by_name((bins_of_item, bins_of_sub_group), "int64", "int32", 16)


@cache
def contraction(unrolled: bool) -> Source:
    """The local derivatives of a spectral element, three sums along its edges, all operands in shared local memory.

    The loops along an edge are unrolled or not; those over the layers, of ``layers`` trips, never.
    """

    @kernel(unroll="full" if unrolled else "disable")
    def derivatives(
        item: kapi.NdItem, w: Any, u: Any, g: Any, d: Any, layers: Any, su: Any, sd: Any, ur: Any, us: Any, ut: Any
    ) -> None:
        inner = item.get_local_id(0)
        element = item.get_group().get_group_id(0) * ORDER * ORDER * ORDER
        i = inner % ORDER
        j = inner // ORDER % ORDER
        first = inner // (ORDER * ORDER)
        if inner < ORDER * ORDER:
            sd[inner] = d[inner]
        for k in range(first, layers, LAYERS):
            su[(k * ORDER + j) * ORDER + i] = u[element + (k * ORDER + j) * ORDER + i]
        kapi.group_barrier(item.get_group())
        for k in range(first, layers, LAYERS):
            r = s = t = np.float64(0)
            for m in range(ORDER):
                r += sd[i * ORDER + m] * su[(k * ORDER + j) * ORDER + m]
                s += sd[j * ORDER + m] * su[(k * ORDER + m) * ORDER + i]
                t += sd[k * ORDER + m] * su[(m * ORDER + j) * ORDER + i]
            at = (k * ORDER + j) * ORDER + i
            p = (element + at) * 6
            ur[at] = g[p] * r + g[p + 1] * s + g[p + 2] * t
            us[at] = g[p + 1] * r + g[p + 3] * s + g[p + 4] * t
            ut[at] = g[p + 2] * r + g[p + 4] * s + g[p + 5] * t
        kapi.group_barrier(item.get_group())
        for k in range(first, layers, LAYERS):
            total = np.float64(0)
            for m in range(ORDER):
                total += sd[m * ORDER + i] * ur[(k * ORDER + j) * ORDER + m]
                total += sd[m * ORDER + j] * us[(k * ORDER + m) * ORDER + i]
                total += sd[m * ORDER + k] * ut[(m * ORDER + j) * ORDER + i]
            w[element + (k * ORDER + j) * ORDER + i] = total

    local = [kapi.LocalAccessor((size,), np.float64) for size in (ORDER**3, ORDER**2, *[ORDER**3] * 3)]
    return spirv(derivatives, *["float64"] * 4, ORDER, *local, group=LAYERS * ORDER * ORDER)


@kernel
def add_to_one(item: kapi.NdItem, x: Any, total: Any) -> None:
    kapi.AtomicRef(total, 0).fetch_add(x[item.get_global_id(0)])


@cache
def atomic_sum(dtype: str) -> Source:
    """Every work-item adds to the same number."""
    return spirv(add_to_one, dtype, dtype)


@cache
def triad(dtype: str, trips: int | None = None) -> Source:
    """The inner loop of the modified triad, with a trip count that is a constant, or given at run time."""
    zero, scale = np.dtype(dtype).type(0), np.dtype(dtype).type(3)

    @kernel
    def triad_of(item: kapi.NdItem, a: Any, b: Any, c: Any, scale: Any, count: Any) -> None:
        i = item.get_global_id(0)
        total = zero
        for _ in range(count if trips is None else trips):
            total = total + b[i] + scale * c[i]
        a[i] = total

    return spirv(triad_of, dtype, dtype, dtype, scale, 10)


@cache
def logarithms() -> Mapping[str, Source]:
    """A chain of logarithms of float32, precise and native, by name."""

    def chain_of(log: Any) -> Source:
        @kernel
        def chain(item: kapi.NdItem, x: Any) -> None:
            value = x[item.get_global_id(0)]
            for _ in range(LOGARITHMS):
                value += log(value)
            x[item.get_global_id(0)] = value

        return spirv(chain, "float32")

    return {"log": chain_of(math.log), "native_log": chain_of(native.log)}
