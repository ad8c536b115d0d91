"""Rates of relaxed atomic additions to int32, in global and local memory, all to one address or each to its own.

A compiler may add up what the work-items of a sub-group add to one address and send one message; the rate counts
additions as the program asks for them, as it does for the patterns.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from xebench.dpex import atomics, kernel, specialize
from xebench.dpex import kernel_api as kapi
from xebench.measuring.roofline.bench import ProbeGroup, nd_range
from xebench.measuring.roofline.forms import ATOMIC_FORMS, global_counts, local_counts
from xebench.measuring.roofline.search import Form, Measurement

ITEMS_PER_UNIT = 1 << 10
#: Counters for "an address each"; work-items beyond this many share them.
COUNTERS = 1 << 16
_FEWEST_ADDITIONS = 4
_MOST_ADDITIONS = 1 << 16


def make_global(contended: bool) -> Any:
    """Add to the first counter, or each work-item to its own."""

    @kernel
    def add_global(item: kapi.NdItem, counters: Any, additions: Any) -> None:
        place = 0 if contended else item.get_global_id(0) % counters.size
        for _ in range(additions):
            atomics.fetch_add(counters, place, np.int32(1))

    return add_global


def make_local(contended: bool) -> Any:
    """The same in local memory, with a counter for each work-item of the group."""

    @kernel
    def add_local(item: kapi.NdItem, counts: Any, counters: Any, additions: Any) -> None:
        mine = item.get_local_id(0)
        place = 0 if contended else mine
        counters[mine] = np.int32(0)
        kapi.group_barrier(item.get_group())
        for _ in range(additions):
            atomics.fetch_add(counters, place, np.int32(1), scope=kapi.MemoryScope.WORK_GROUP)
        kapi.group_barrier(item.get_group())
        counts[item.get_global_id(0)] = counters[mine]

    return add_local


class Group(ProbeGroup):
    """The four probes."""

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        _, space, places = name.split("_")
        make = partial(self._local if space == "local" else self._global, places == "one")
        return self._bench.search(self._bench.grown(ATOMIC_FORMS, _FEWEST_ADDITIONS, _MOST_ADDITIONS, make))

    @property
    def _items(self) -> int:
        return ITEMS_PER_UNIT * self._bench.compute_units

    def _global(self, contended: bool, additions: int, form: tuple[int]) -> Form:
        (group,) = form
        launch, size = self._bench.session.launch, 1 if contended else min(COUNTERS, self._items)
        counters = self._bench.session.alloc(size, np.int32)
        add, space = specialize(make_global, contended=contended), nd_range(self._items, group)
        return self._bench.form(
            {"work-group": group, "additions": additions},
            self._items * additions,
            partial(launch, add, space, counters, np.int32(additions)),
            counters,
            partial(global_counts, self._items, additions, size),
            poison=0,
        )

    def _local(self, contended: bool, additions: int, form: tuple[int]) -> Form:
        (group,) = form
        launch, counts = self._bench.session.launch, self._bench.session.alloc(self._items, np.int32)
        add, space = specialize(make_local, contended=contended), nd_range(self._items, group)
        return self._bench.form(
            {"work-group": group, "additions": additions},
            self._items * additions,
            partial(launch, add, space, counts, kapi.LocalAccessor(group, np.int32), np.int32(additions)),
            counts,
            partial(local_counts, group, additions, contended),
        )
