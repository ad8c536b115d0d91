"""Probes of what a compute unit does by itself: arithmetic, and shared local memory."""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from numba_sycl import device_func, kernel, native, specialize, vector
from numba_sycl import kernel_api as kapi
from xebench.errors import Unsupported
from xebench.roofs.bench import ProbeGroup, nd_range
from xebench.roofs.forms import (
    CHAIN_FORMS,
    INTEGER_FACTOR,
    LOCAL_FORMS,
    chain_operations,
    chain_starts,
    chain_sums,
    local_sums,
)
from xebench.roofs.search import MOST_STEPS, Form, Measurement

DTYPES = {"fp32": np.float32, "fp64": np.float64, "int32": np.int32}
_CHAINS_PER_UNIT = 1 << 14
_FEWEST_STEPS = 128


@device_func
def _integer_step(x: Any, factor: Any, addend: Any) -> Any:
    # numba makes 64 bits of 32-bit products
    return np.int32(x * factor + addend)


#: A step where it is no `native.mad`, by dtype.
STEPS = {"int32": _integer_step}


def make_chains(dtype: str, chains: int, unroll: int) -> Any:
    """The kernel; ``chains`` is 8 or 16."""
    cast, many = np.dtype(dtype).type, chains == 16
    step = STEPS.get(dtype, native.mad)

    # fast_math: without it multiplications and additions are never fused
    @kernel(fast_math=True, unroll=unroll or None)
    def multiply_add(item: kapi.NdItem, x: Any, sums: Any, factor: Any, steps: Any) -> None:
        i = item.get_global_id(0)
        s = x[i]
        a = s
        b, c, d = cast(a + s), cast(a + s + s), cast(a + s + s + s)
        e, f, g, h = cast(d + a), cast(d + b), cast(d + c), cast(d + d)
        j, k, l, m = cast(h + a), cast(h + b), cast(h + c), cast(h + d)  # noqa: E741
        n, o, p, q = cast(h + e), cast(h + f), cast(h + g), cast(h + h)
        for _ in range(steps):
            a, b, c, d = step(a, factor, s), step(b, factor, s), step(c, factor, s), step(d, factor, s)
            e, f, g, h = step(e, factor, s), step(f, factor, s), step(g, factor, s), step(h, factor, s)
            if many:
                j, k, l, m = step(j, factor, s), step(k, factor, s), step(l, factor, s), step(m, factor, s)  # noqa: E741
                n, o, p, q = step(n, factor, s), step(o, factor, s), step(p, factor, s), step(q, factor, s)
        total = cast(a + b + c + d + e + f + g + h)
        if many:
            total = cast(total + j + k + l + m + n + o + p + q)
        sums[i] = total

    return multiply_add


class Arithmetic(ProbeGroup):
    """Rates of multiply-add, which counts as two operations, in float32, float64 and int32.

    Each work-item runs 8 or 16 chains of which every step needs the one before, so no step can be left out. The factor
    is an argument, so no step can be computed beforehand. Floats start small and are multiplied by one: every sum is
    exact. Integers are compared with the closed form of the recurrence, modulo what the type holds.
    """

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        return self._bench.search(self.forms(name))

    def forms(self, name: str) -> Iterator[Form]:
        """The forms of one probe."""
        bench, dtype = self._bench, np.dtype(DTYPES[name])
        if name == "fp64" and not bench.device.has_aspect_fp64:
            raise Unsupported("the device has no fp64")
        starts = chain_starts(_CHAINS_PER_UNIT * bench.compute_units, dtype)
        arrays = bench.memory.upload(starts), bench.session.alloc(starts.size, dtype)
        return bench.grown(CHAIN_FORMS, _FEWEST_STEPS, MOST_STEPS, partial(self._form, starts, arrays))

    def _form(self, starts: Any, arrays: tuple[Any, Any], steps: int, form: tuple[int, int, int]) -> Form:
        group, chains, unroll = form
        dtype, (_, sums) = starts.dtype, arrays
        factor = dtype.type(INTEGER_FACTOR if dtype.kind == "i" else 1)
        kernel = specialize(make_chains, dtype=dtype.name, chains=chains, unroll=unroll)
        space = nd_range(starts.size, group)
        return self._bench.form(
            {"work-group": group, "chains": chains, "unroll": unroll or "auto"},
            chain_operations(starts.size, chains, steps),
            partial(self._bench.session.launch, kernel, space, *arrays, factor, np.int32(steps)),
            sums,
            partial(chain_sums, starts, chains, steps),
        )


GROUPS_PER_UNIT = 16
#: Reads of one turn of the loop: a work-item's share of the tile is a multiple of this.
READS = 4
_FEWEST_PASSES = 32
_MOST_PASSES = 1 << 14


def make_reader(width: int) -> Any:
    """The kernel; ``rounds`` reads a work-item and pass, in four sums that do not wait for one another."""

    @kernel
    def read_local(item: kapi.NdItem, sums: Any, tile: Any, rounds: Any, passes: Any) -> None:
        step, first = item.get_local_range(0), item.get_local_id(0)
        for i in range(rounds):
            tile[first + i * step] = np.float32(1 + ((first + i * step) & 3))
        kapi.group_barrier(item.get_group())
        p = q = r = s = np.float32(0)
        for _ in range(passes):
            i = first
            for _ in range(0, rounds, READS):
                p += tile[i]
                q += tile[i + step]
                r += tile[i + 2 * step]
                s += tile[i + 3 * step]
                i += READS * step
        sums[item.get_global_id(0)] = p + q + r + s

    @kernel
    def read_local4(item: kapi.NdItem, sums: Any, tile: Any, rounds: Any, passes: Any) -> None:
        step, first = item.get_local_range(0), item.get_local_id(0)
        for i in range(4 * rounds):
            tile[first + i * step] = np.float32(1 + ((first + i * step) & 3))
        kapi.group_barrier(item.get_group())
        p = q = r = s = np.float32(0)
        for _ in range(passes):
            i = 4 * first
            for _ in range(rounds):
                t, u, v, w = vector.load4(tile, i)
                p, q, r, s = p + t, q + u, r + v, s + w
                i += 4 * step
        sums[item.get_global_id(0)] = p + q + r + s

    return read_local if width == 1 else read_local4


class LocalMemory(ProbeGroup):
    """Bandwidth of shared local memory: each work-item reads through its group's tile again and again.

    The number of passes and the walk through the tile are known at run time only, so that no compiler can keep the tile
    in registers; float sums are not reordered, so that it cannot multiply one pass by their number.
    """

    def measure(self, name: str) -> Measurement:
        """Measure it."""
        # half of the memory at most, so that a second group can be resident
        most_bytes = int(self._bench.device.local_mem_size) // 2
        forms = [form for form in LOCAL_FORMS if form[2] <= most_bytes]
        return self._bench.search(self._bench.grown(forms, _FEWEST_PASSES, _MOST_PASSES, self._form))

    def _form(self, passes: int, form: tuple[int, int, int]) -> Form:
        bench, (group, width, tile_bytes) = self._bench, form
        items = group * GROUPS_PER_UNIT * bench.compute_units
        rounds = tile_bytes // (4 * width * group)
        sums = bench.session.alloc(items, np.float32)
        tile = kapi.LocalAccessor(tile_bytes // 4, np.float32)
        reader, counts = specialize(make_reader, width=width), (np.int64(rounds), np.int64(passes))
        return bench.form(
            {"work-group": group, "width": width, "tile": tile_bytes},
            4 * width * items * rounds * passes,
            partial(bench.session.launch, reader, nd_range(items, group), sums, tile, *counts),
            sums,
            partial(local_sums, width, group, rounds, passes),
        )
