"""Share a histogram's bins among the lanes of a sub-group, so that they fit their registers."""

import numpy as np

from harness import Claim, Pattern, Problem, fit, inout, kernel
from harness import kernel_api as kapi
from harness.dpex import atomics, sub_group

pattern = Pattern(
    name="histogram_in_registers",
    catalogue=("E26", "E27"),
    guide="Registers and Performance / Sharing Registers in a Sub-group",
    lesson="256 bins a work-item spill to memory; 16 lanes that own 16 bins each keep the same 256 in registers.",
    claim=tuple(Claim(word, on=("gpu",), source="G 2191 to 2197") for word in ("faster", "spills")),
    presets={
        "smoke": {"n": (1 << 15, 3 << 14)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 24, per_lane=256)}},
        "guide": {"n": 4096 * 4096},
    },
    # Every bin has its owner: work-groups are a multiple of the sub-group's size, which divides the number of bins.
    axes={"sub_group_size": "device", "work_group_size": (64,)},
    requires=("sub_groups",),
)

BINS = 256
BLOCK = 256  # words for each work-item; a word holds eight numbers of 8 bits, each of which names a bin
FIELDS = 8
BITS = 8
MASK = BINS - 1


def count_privately_in(lanes):
    """The kernel for sub-groups of ``lanes``."""

    @kernel(sub_group_size=lanes)
    def count_privately(item: kapi.NdItem, words, counts):
        size = item.get_local_range(0)
        first = item.get_group().get_group_id(0) * size * BLOCK + item.get_local_id(0)
        bins = kapi.PrivateArray(BINS, np.int32)
        for b in range(BINS):
            bins[b] = 0
        for k in range(BLOCK):
            word = words[first + k * size]
            for field in range(FIELDS):
                bins[(word >> (BITS * field)) & MASK] += 1
        for b in range(BINS):
            atomics.fetch_add(counts, b, bins[b])

    return count_privately


def count_together_in(lanes):
    """The kernel for sub-groups of ``lanes``: of each ``lanes`` neighbouring bins, every lane owns one."""
    owned = BINS // lanes

    @kernel(sub_group_size=lanes)
    def count_together(item: kapi.NdItem, words, counts):
        size = item.get_local_range(0)
        first = item.get_group().get_group_id(0) * size * BLOCK + item.get_local_id(0)
        lane = sub_group.local_id()
        bins = kapi.PrivateArray(owned, np.int32)
        for b in range(owned):
            bins[b] = 0
        for k in range(BLOCK):
            own_word = words[first + k * size]
            # each lane's word is shown to all of them, and the owner of a number's bin counts it
            for source in range(lanes):
                word = sub_group.broadcast(own_word, source)
                for field in range(FIELDS):
                    number = (word >> (BITS * field)) & MASK
                    if number % lanes == lane:
                        bins[number // lanes] += 1
        for b in range(owned):
            atomics.fetch_add(counts, b * lanes + lane, bins[b])

    return count_together


@pattern.problem
def packed_numbers(rng, n, work_group_size):
    if n % (BLOCK * work_group_size):
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {BLOCK * work_group_size}")
    # The guide's bins in memory are 64 bits wide; 32 are enough for its size and need no 64-bit atomics.
    return Problem(
        words=rng.integers(-(1 << 63), 1 << 63, n, dtype=np.int64),
        counts=inout(np.zeros(BINS, np.int32)),
        bytes_moved=8 * n,
    )


@pattern.reference
def expected(p):
    numbers = p.words.view(np.uint8)
    # in parts, since numpy makes 64-bit copies to count from
    parts = (numbers[k : k + (1 << 24)] for k in range(0, numbers.size, 1 << 24))
    return {"counts": sum(np.bincount(part, minlength=BINS) for part in parts)}


@pattern.naive
def bins_of_item(session, p, work_group_size, sub_group_size):
    """Every work-item has 256 bins of its own: 1 KB, more than its share of the registers."""
    count_privately = count_privately_in(sub_group_size)
    items = kapi.NdRange((p.n // BLOCK,), (work_group_size,))
    return lambda: session.launch(count_privately, items, p.words, p.counts)


@pattern.optimized
def bins_of_sub_group(session, p, work_group_size, sub_group_size):
    """The sub-group has 256 bins, spread over its lanes; words are broadcast to the bins' owners."""
    count_together = count_together_in(sub_group_size)
    items = kapi.NdRange((p.n // BLOCK,), (work_group_size,))
    return lambda: session.launch(count_together, items, p.words, p.counts)
