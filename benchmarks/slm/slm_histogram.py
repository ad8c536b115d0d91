"""Count into a histogram of the work-group in shared local memory, then add it to the global one."""

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from harness import Pattern, Problem, inout

pattern = Pattern(
    name="slm_histogram",
    catalogue=("E35", "E36"),
    guide="Shared Local Memory / Data Sharing and Work-group Barriers",
    lesson="1024 bins do not fit a work-item's registers: a group shares them in SLM, by local atomics.",
    claim={"gpu": "faster"},
    presets={
        "smoke": {"n": 1 << 18},
        "default": {"n": {"cpu": 1 << 20, "gpu": 1 << 24}},
        "guide": {"n": 4096 * 4096},
    },
    axes={"work_group_size": (64,)},
)

BINS = 1024
BLOCK = 256  # words for each work-item; a word holds four numbers of 16 bits, whose lower 10 bits name the bin
MASK = BINS - 1


@dpex.kernel(error_model="numpy")
def count_global(item: kapi.NdItem, words, counts):
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size * BLOCK + item.get_local_id(0)
    for k in range(BLOCK):
        word = words[first + k * size]
        for field in range(4):
            one_bin = kapi.AtomicRef(counts, (word >> (16 * field)) & MASK)
            one_bin.fetch_add(np.int32(1))


@dpex.kernel(error_model="numpy")
def count_local(item: kapi.NdItem, words, counts, of_group, zeroing_items):
    lane = item.get_local_id(0)
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size * BLOCK + lane
    if lane < zeroing_items:
        b = lane
        while b < BINS:
            of_group[b] = 0
            b += zeroing_items
    kapi.group_barrier(item.get_group())
    for k in range(BLOCK):
        word = words[first + k * size]
        for field in range(4):
            one_bin = kapi.AtomicRef(of_group, (word >> (16 * field)) & MASK, address_space=kapi.AddressSpace.LOCAL)
            one_bin.fetch_add(np.int32(1))
    kapi.group_barrier(item.get_group())
    b = lane
    while b < BINS:
        total = kapi.AtomicRef(counts, b)
        total.fetch_add(of_group[b])
        b += size


@pattern.problem
def packed_numbers(rng, n):
    # The guide counts in 64 bits; 32 are enough for its size and need no 64-bit atomics.
    return Problem(
        words=rng.integers(-(1 << 63), 1 << 63, n, dtype=np.int64),
        counts=inout(np.zeros(BINS, np.int32)),
        bytes_moved=8 * n,
    )


@pattern.reference
def expected(p):
    return {"counts": np.bincount(p.words.view(np.uint16) & MASK, minlength=BINS)}


def launch(session, p, work_group_size, kernel, *arguments):
    items = kapi.NdRange((p.n // BLOCK,), (work_group_size,))
    session.launch(kernel, items, p.words, p.counts, *arguments)


@pattern.naive
def global_atomics(session, p, work_group_size):
    """Every number is counted by an atomic addition in global memory."""
    launch(session, p, work_group_size, count_global)


@pattern.intermediate
def one_item_zeroes(session, p, work_group_size):
    """Bins of the group in SLM, set to zero by one item while the others wait."""
    of_group = kapi.LocalAccessor(BINS, np.int32)
    launch(session, p, work_group_size, count_local, of_group, 1)


@pattern.optimized
def local_atomics(session, p, work_group_size):
    """Bins of the group in SLM, set to zero and added to the global ones by all items together."""
    of_group = kapi.LocalAccessor(BINS, np.int32)
    launch(session, p, work_group_size, count_local, of_group, work_group_size)
