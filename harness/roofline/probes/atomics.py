"""Rates of relaxed atomic additions to int32, in global and local memory, all to one address or each to its own.

A compiler may add up what the work-items of a sub-group add to one address and send one message; the rate counts
additions as the program asks for them, as it does for the patterns.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numba_dpex import kernel_api as kapi

from harness.dpex import atomics, kernel, specialize
from harness.roofline.bench import Bench, nd_range, require_equal
from harness.roofline.expected import global_counts, local_counts
from harness.roofline.forms import ATOMIC_GROUPS
from harness.roofline.search import Candidate, Found, grown

ITEMS_PER_UNIT = 1 << 10
#: Counters for "an address each"; work-items beyond this many share them.
COUNTERS = 1 << 16
_FEWEST_ADDITIONS = 4
_MOST_ADDITIONS = 1 << 16


def make_global(one: bool) -> Any:
    """Add to the first counter, or each work-item to its own."""

    @kernel
    def add_global(item: kapi.NdItem, counters: Any, additions: Any) -> None:
        place = 0 if one else item.get_global_id(0) % counters.size
        for _ in range(additions):
            atomics.fetch_add(counters, place, np.int32(1))

    return add_global


def make_local(one: bool) -> Any:
    """The same in local memory, with a counter for each work-item of the group."""

    @kernel
    def add_local(item: kapi.NdItem, counts: Any, counters: Any, additions: Any) -> None:
        mine = item.get_local_id(0)
        place = 0 if one else mine
        counters[mine] = np.int32(0)
        kapi.group_barrier(item.get_group())
        for _ in range(additions):
            atomics.fetch_add(counters, place, np.int32(1), scope=kapi.MemoryScope.WORK_GROUP)
        kapi.group_barrier(item.get_group())
        counts[item.get_global_id(0)] = counters[mine]

    return add_local


class Group:
    """The four probes."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._items = ITEMS_PER_UNIT * bench.compute_units

    def measure(self, name: str) -> Found:
        """Measure one probe."""
        _, space, places = name.split("_")
        return self._bench.search(self._candidates(space == "local", places == "one"))

    def _candidates(self, local: bool, one: bool) -> Iterator[Candidate]:
        bench = self._bench
        form = self._local if local else self._global
        groups = bench.work_groups(*ATOMIC_GROUPS)
        time_of = lambda additions: form(one, additions, groups[0]).run()  # noqa: E731
        additions = grown(_FEWEST_ADDITIONS, _MOST_ADDITIONS, bench.effort.shortest_ns, time_of)
        for group in groups:
            yield form(one, additions, group)

    def _global(self, one: bool, additions: int, group: int) -> Candidate:
        bench = self._bench
        size = 1 if one else min(COUNTERS, self._items)
        counters = bench.zeros(size, np.int32)
        add = specialize(make_global, one=one)
        submit = partial(bench.session.launch, add, nd_range(self._items, group), counters, np.int32(additions))

        def verify() -> None:
            bench.poison(counters, 0)
            submit().wait()
            require_equal(bench.memory.read(counters), global_counts(self._items, additions, size), "counters")

        return self._candidate(group, additions, submit, verify)

    def _local(self, one: bool, additions: int, group: int) -> Candidate:
        bench = self._bench
        counts = bench.zeros(self._items, np.int32)
        counters = kapi.LocalAccessor(group, np.int32)
        add, times = specialize(make_local, one=one), np.int32(additions)
        submit = partial(bench.session.launch, add, nd_range(self._items, group), counts, counters, times)

        def verify() -> None:
            bench.poison(counts, -1)
            submit().wait()
            require_equal(bench.memory.read(counts).reshape(-1, group), local_counts(group, additions, one), "counters")

        return self._candidate(group, additions, submit, verify)

    def _candidate(self, group: int, additions: int, submit: Any, verify: Any) -> Candidate:
        form = {"work-group": group, "additions": additions}
        return Candidate(form, self._items * additions, partial(self._bench.device_ns, submit), verify)
