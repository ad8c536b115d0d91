"""Count into a histogram of the work-group in shared local memory, then add it to the global one."""

import numpy as np

from harness import Claim, Pattern, Problem, fit, inout, kernel
from harness import kernel_api as kapi
from harness.dpex import atomics, sub_group

pattern = Pattern(
    name="slm_histogram",
    catalogue=("E35",),
    guide="Shared Local Memory / Data Sharing and Work-group Barriers",
    lesson="1024 bins do not fit a sub-group's registers: a work-group shares them in SLM, by local atomics.",
    presets={
        "smoke": {"n": (1 << 18, 13 << 14)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 24, per_lane=256)}},
        "guide": {"n": 4096 * 4096},
    },
    # The guide has 1024 bins and work-groups of 64. It asks to try others, and 256 bins, whose times it calls
    # surprising (G 3055): nothing is claimed of them. Each bin has its owner among the lanes of a sub-group.
    axes={"bins": (1024, 256), "work_group_size": (64, 256, 1024), "sub_group_size": "device"},
    requires=("sub_groups",),
)

BLOCK = 256  # words of 64 bits for each work-item


def fields_of(bins):
    """Numbers in a word; the lower bits of each name the bin."""
    return 8 if bins <= 256 else 4


def count_in_registers_by(bins, lanes):
    """The kernel for sub-groups of ``lanes``: of each ``lanes`` neighbouring bins, every lane owns one."""
    fields, bits, mask, owned = fields_of(bins), 64 // fields_of(bins), bins - 1, bins // lanes

    @kernel(sub_group_size=lanes)
    def count_in_registers(item: kapi.NdItem, words, counts):
        size = item.get_local_range(0)
        first = item.get_group().get_group_id(0) * size * BLOCK + item.get_local_id(0)
        lane = sub_group.local_id()
        own = kapi.PrivateArray(owned, np.int32)
        for b in range(owned):
            own[b] = 0
        for k in range(BLOCK):
            own_word = words[first + k * size]
            # each lane's word is shown to all of them, and the owner of a number's bin counts it
            for source in range(lanes):
                word = sub_group.broadcast(own_word, source)
                for field in range(fields):
                    number = (word >> (bits * field)) & mask
                    if number % lanes == lane:
                        own[number // lanes] += 1
        for b in range(owned):
            atomics.fetch_add(counts, b * lanes + lane, own[b])

    return count_in_registers


def count_global_by(bins):
    fields, bits, mask = fields_of(bins), 64 // fields_of(bins), bins - 1

    @kernel
    def count_global(item: kapi.NdItem, words, counts):
        size = item.get_local_range(0)
        first = item.get_group().get_group_id(0) * size * BLOCK + item.get_local_id(0)
        for k in range(BLOCK):
            word = words[first + k * size]
            for field in range(fields):
                one_bin = kapi.AtomicRef(counts, (word >> (bits * field)) & mask)
                one_bin.fetch_add(np.int32(1))

    return count_global


def count_local_by(bins):
    fields, bits, mask = fields_of(bins), 64 // fields_of(bins), bins - 1

    @kernel
    def count_local(item: kapi.NdItem, words, counts, of_group, zeroing_items):
        lane = item.get_local_id(0)
        size = item.get_local_range(0)
        first = item.get_group().get_group_id(0) * size * BLOCK + lane
        if lane < zeroing_items:
            b = lane
            while b < bins:
                of_group[b] = 0
                b += zeroing_items
        kapi.group_barrier(item.get_group())
        for k in range(BLOCK):
            word = words[first + k * size]
            for field in range(fields):
                number = (word >> (bits * field)) & mask
                one_bin = kapi.AtomicRef(of_group, number, address_space=kapi.AddressSpace.LOCAL)
                one_bin.fetch_add(np.int32(1))
        kapi.group_barrier(item.get_group())
        b = lane
        while b < bins:
            total = kapi.AtomicRef(counts, b)
            total.fetch_add(of_group[b])
            b += size

    return count_local


@pattern.problem
def packed_numbers(rng, n, bins, work_group_size):
    if n % (BLOCK * work_group_size):
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {BLOCK * work_group_size}")
    # The guide counts in 64 bits; 32 are enough for its size and need no 64-bit atomics.
    return Problem(
        words=rng.integers(-(1 << 63), 1 << 63, n, dtype=np.int64),
        counts=inout(np.zeros(bins, np.int32)),
        bytes_moved=8 * n,
    )


@pattern.reference
def expected(p):
    numbers = p.words.view(np.uint8 if fields_of(p.bins) == 8 else np.uint16)
    # in parts, since numpy makes 64-bit copies to count from
    parts = (numbers[k : k + (1 << 24)] & (p.bins - 1) for k in range(0, numbers.size, 1 << 24))
    return {"counts": sum(np.bincount(part, minlength=p.bins) for part in parts)}


def launcher(session, p, work_group_size, count, *arguments):
    items = kapi.NdRange((p.n // BLOCK,), (work_group_size,))
    return lambda: session.launch(count, items, p.words, p.counts, *arguments)


@pattern.naive
def bins_of_sub_group(session, p, bins, work_group_size, sub_group_size):
    """The bins of a sub-group are spread over its lanes: 256 fit their registers, 1024 may not."""
    return launcher(session, p, work_group_size, count_in_registers_by(bins, sub_group_size))


@pattern.baseline
def global_atomics(session, p, bins, work_group_size):
    """Every number is counted by an atomic addition in global memory."""
    return launcher(session, p, work_group_size, count_global_by(bins))


@pattern.intermediate
def one_item_zeroes(session, p, bins, work_group_size):
    """Bins of the group in SLM, set to zero by one item while the others wait."""
    of_group = kapi.LocalAccessor(bins, np.int32)
    return launcher(session, p, work_group_size, count_local_by(bins), of_group, 1)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), where={"bins": 1024}, strength="implied", source="G 2945 to 2947"),
        Claim("spills", on=("gpu",), where={"bins": 1024}, source="G 2945"),
        Claim("faster", against="one_item_zeroes", on=("gpu",), source="G 3045"),
    )
)
def local_atomics(session, p, bins, work_group_size):
    """Bins of the group in SLM, set to zero and added to the global ones by all items together."""
    of_group = kapi.LocalAccessor(bins, np.int32)
    return launcher(session, p, work_group_size, count_local_by(bins), of_group, work_group_size)
