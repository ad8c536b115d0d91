"""The kernels of the memory probes; each work-group owns one contiguous block and walks through it side by side."""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from typing import Any

import numpy as np

from xebench.dpex import device_func, kernel, vector
from xebench.dpex import kernel_api as kapi
from xebench.measuring.roofline.expected import HASH, LAST_SHIFT


@device_func
def _copy(x: Any, y: Any, scale: Any) -> Any:
    return x


@device_func
def _scale(x: Any, y: Any, scale: Any) -> Any:
    return scale * x


@device_func
def _add(x: Any, y: Any, scale: Any) -> Any:
    return x + y


@device_func
def _triad(x: Any, y: Any, scale: Any) -> Any:
    return x + scale * y


_OPERATIONS = {"copy": _copy, "scale": _scale, "add": _add, "triad": _triad}


def make_stream(operation: str, width: int, vectors: int) -> Any:
    """``a = operation(b, c)``; an input that the operation does not use is never read."""
    combine = _OPERATIONS[operation]

    @kernel(restrict=True, fast_math=True)
    def stream(item: kapi.NdItem, a: Any, b: Any, c: Any, scale: Any) -> None:
        step = item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + item.get_local_id(0)
        for _ in range(vectors):
            a[i] = combine(b[i], c[i], scale)
            i += step

    @kernel(restrict=True, fast_math=True)
    def stream4(item: kapi.NdItem, a: Any, b: Any, c: Any, scale: Any) -> None:
        step = 4 * item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + 4 * item.get_local_id(0)
        for _ in range(vectors):
            p, q, r, s = vector.load4(b, i)
            t, u, v, w = vector.load4(c, i)
            vector.store4(a, i, combine(p, t, scale), combine(q, u, scale), combine(r, v, scale), combine(s, w, scale))
            i += step

    return stream if width == 1 else stream4


def make_write(width: int, vectors: int) -> Any:
    """``a = value``."""

    @kernel
    def write(item: kapi.NdItem, a: Any, value: Any) -> None:
        step = item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + item.get_local_id(0)
        for _ in range(vectors):
            a[i] = value
            i += step

    @kernel
    def write4(item: kapi.NdItem, a: Any, value: Any) -> None:
        step = 4 * item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + 4 * item.get_local_id(0)
        for _ in range(vectors):
            vector.store4(a, i, value, value, value, value)
            i += step

    return write if width == 1 else write4


def make_read(width: int, vectors: int) -> Any:
    """Each work-item sums its elements in four sums that do not wait for one another; ``vectors``: a multiple of 4."""

    @kernel(restrict=True)
    def read(item: kapi.NdItem, b: Any, sums: Any) -> None:
        step = item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + item.get_local_id(0)
        p = q = r = s = np.float32(0)
        for _ in range(0, vectors, 4):
            p += b[i]
            q += b[i + step]
            r += b[i + 2 * step]
            s += b[i + 3 * step]
            i += 4 * step
        sums[item.get_global_id(0)] = p + q + r + s

    @kernel(restrict=True)
    def read4(item: kapi.NdItem, b: Any, sums: Any) -> None:
        step = 4 * item.get_local_range(0)
        i = item.get_group().get_group_id(0) * step * vectors + 4 * item.get_local_id(0)
        p = q = r = s = np.float32(0)
        for _ in range(vectors):
            t, u, v, w = vector.load4(b, i)
            p, q, r, s = p + t, q + u, r + v, s + w
            i += step
        sums[item.get_global_id(0)] = p + q + r + s

    return read if width == 1 else read4


def make_read_again(vectors: int) -> Any:
    """Each work-item sums ``vectors`` elements of one block after another, in four sums; a multiple of 4.

    From pass to pass a work-group goes on to the block that is ``shift`` further, so that all of them read all of the
    working set. The numbers of blocks and passes are known at run time only, so that no read can be left out. Indices
    are unsigned, so that none has to be asked whether it is negative: compilers make vectors of reads only then.
    """
    per_item, two, three, four = (np.uint64(number) for number in (vectors, 2, 3, 4))

    @kernel(restrict=True)
    def read_again(item: kapi.NdItem, b: Any, sums: Any, passes: Any, mask: Any, shift: Any) -> None:
        step = np.uint64(item.get_local_range(0))
        block = np.uint64(item.get_group().get_group_id(0))
        first = np.uint64(item.get_local_id(0))
        p = q = r = s = np.float32(0)
        for _ in range(passes):
            i = (block & mask) * step * per_item + first
            for _ in range(0, vectors, 4):
                p += b[i]
                q += b[i + step]
                r += b[i + two * step]
                s += b[i + three * step]
                i += four * step
            block += shift
        sums[item.get_global_id(0)] = p + q + r + s

    return read_again


@device_func
def _scattered(x: Any) -> Any:
    # numba makes 64 bits of 32-bit products
    x = np.uint32(np.uint32(x ^ (x >> np.uint32(HASH[0][0]))) * np.uint32(HASH[0][1]))
    x = np.uint32(np.uint32(x ^ (x >> np.uint32(HASH[1][0]))) * np.uint32(HASH[1][1]))
    return np.uint32(x ^ (x >> np.uint32(LAST_SHIFT)))


def make_random_read(reads: int) -> Any:
    """Each work-item sums what it finds at pseudo-random places, which it computes: no list of places is read."""

    @kernel(restrict=True)
    def random_read(item: kapi.NdItem, table: Any, sums: Any, mask: Any) -> None:
        first = np.uint32(item.get_global_id(0) * reads)
        total = np.uint32(0)
        for read in range(reads):
            total = np.uint32(total + table[_scattered(np.uint32(first + read)) & mask])
        sums[item.get_global_id(0)] = total

    return random_read
