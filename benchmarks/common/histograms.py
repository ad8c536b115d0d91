"""Count numbers into bins: eight of 8 bits, or four of 16, are packed in a word; their lower bits name the bin.

What the guide's lessons on private bins, on bins that a sub-group shares, and on bins in shared local memory share.
"""

import numpy as np

from xebench import Problem, device_func, inout, kernel
from xebench import kernel_api as kapi
from xebench.dpex import atomics, sub_group

LEAST_GROUP = 64
BLOCK = 256  # words of 64 bits for each work-item


def fields_of(bins):
    """Numbers in a word."""
    return 8 if bins <= 256 else 4


@device_func
def first_word(item, lanes):
    """Where an item's words begin: a sub-group has a row of them, of which each lane takes every ``lanes``-th."""
    i = item.get_local_id(0)
    sub_group_begins = item.get_group().get_group_id(0) * item.get_local_range(0) + i // lanes * lanes
    return sub_group_begins * BLOCK + i % lanes


def count_privately_by(bins, lanes, dtype):
    """The kernel for sub-groups of ``lanes`` whose work-items have all bins each."""
    fields, bits, mask = fields_of(bins), 64 // fields_of(bins), bins - 1

    @kernel(sub_group_size=lanes)
    def count_privately(item: kapi.NdItem, words, counts):
        first = first_word(item, lanes)
        own = kapi.PrivateArray(bins, dtype)
        for b in range(bins):
            own[b] = 0
        for k in range(BLOCK):
            word = words[first + k * lanes]
            for field in range(fields):
                own[(word >> (bits * field)) & mask] += 1
        for b in range(bins):
            atomics.fetch_add(counts, b, np.int32(own[b]))

    return count_privately


def count_together_by(bins, lanes):
    """The kernel for sub-groups of ``lanes``: of each ``lanes`` neighbouring bins, every lane owns one."""
    fields, bits, mask, owned = fields_of(bins), 64 // fields_of(bins), bins - 1, bins // lanes

    @kernel(sub_group_size=lanes)
    def count_together(item: kapi.NdItem, words, counts):
        first = first_word(item, lanes)
        lane = sub_group.local_id()
        own = kapi.PrivateArray(owned, np.int32)
        for b in range(owned):
            own[b] = 0
        for k in range(BLOCK):
            own_word = words[first + k * lanes]
            # each lane's word is shown to all of them, and the owner of a number's bin counts it
            for source in range(lanes):
                word = sub_group.broadcast(own_word, source)
                for field in range(fields):
                    number = (word >> (bits * field)) & mask
                    if number % lanes == lane:
                        own[number // lanes] += 1
        for b in range(owned):
            atomics.fetch_add(counts, b * lanes + lane, own[b])

    return count_together


def packed_numbers(rng, n, bins):
    """The problem: ``n`` words to be counted into ``bins``; it is the same for work-groups of all sizes.

    Raises:
        ValueError: the words are no whole work-groups of the least size.
    """
    if n % (BLOCK * LEAST_GROUP):
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {BLOCK * LEAST_GROUP}")
    # The guide's counts in memory are 64 bits wide; 32 are enough for its size and need no 64-bit atomics.
    return Problem(
        words=rng.integers(-(1 << 63), 1 << 63, n, dtype=np.int64),
        counts=inout(np.zeros(bins, np.int32)),
        bytes_moved=8 * n + 2 * 4 * bins,
    )


def counts_of(words, bins):
    """The reference."""
    numbers = words.view(np.uint16)
    # in parts, since numpy makes 64-bit copies to count from
    parts = (numbers[k : k + (1 << 20)] for k in range(0, numbers.size, 1 << 20))
    counts = sum(np.bincount(part, minlength=1 << 16) for part in parts)
    if fields_of(bins) == 8:  # two numbers in each: those with it as the lower one, and those with it as the upper one
        counts = counts.reshape(256, 256).sum(axis=0) + counts.reshape(256, 256).sum(axis=1)
    return {"counts": counts.reshape(-1, bins).sum(axis=0)}


def launcher(session, p, work_group_size, count, *arguments):
    """What launches a kernel with a work-item for each block.

    Raises:
        ValueError: the words are no whole work-groups.
    """
    if p.n % (BLOCK * work_group_size):
        raise ValueError(f"n={p.n}: work-groups must be whole, so give a multiple of {BLOCK * work_group_size}")
    items = kapi.NdRange((p.n // BLOCK,), (work_group_size,))
    return lambda: session.launch(count, items, p.words, p.counts, *arguments)
