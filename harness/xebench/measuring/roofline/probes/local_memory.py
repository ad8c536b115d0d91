"""Bandwidth of shared local memory: each work-item reads through its group's tile again and again.

The number of passes and the walk through the tile are known at run time only, so that no compiler can keep the tile in
registers; float sums are not reordered, so that it cannot multiply one pass by their number.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from xebench.dpex import kernel, specialize, vector
from xebench.dpex import kernel_api as kapi
from xebench.measuring.roofline.bench import ProbeGroup, nd_range
from xebench.measuring.roofline.forms import LOCAL_FORMS, local_sums
from xebench.measuring.roofline.search import Form, Measurement

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
                t, u, v, w = vector.load4_unaligned(tile, i)
                p, q, r, s = p + t, q + u, r + v, s + w
                i += 4 * step
        sums[item.get_global_id(0)] = p + q + r + s

    return read_local if width == 1 else read_local4


class Group(ProbeGroup):
    """The one probe of shared local memory."""

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
