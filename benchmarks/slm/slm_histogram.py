"""Count into a histogram of the work-group in shared local memory, then add it to the global one."""

import numpy as np

from xebench import Claim, Pattern, fit, kernel
from xebench import kernel_api as kapi

from ..common import histograms
from ..common.histograms import BLOCK, count_together_by, fields_of, first_word, launcher
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="slm_histogram",
    catalogue=("E35", "E36"),
    guide="Shared Local Memory / Data Sharing and Work-group Barriers",
    lesson="1024 bins do not fit a sub-group's registers: a work-group shares them in SLM, by local atomics.",
    presets={
        "smoke": {"n": (1 << 18, 13 << 14)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 24, per_lane=64)}},
        "guide": {"n": 4096 * 4096},  # of the guide's published program
    },
    # The guide has 1024 bins and work-groups of 64. It asks to try others, as barriers of large ones may cost more
    # (G 3053), and 256 bins, whose times it calls surprising (G 3055): nothing is claimed of them. Each bin has its
    # owner among the lanes of a sub-group.
    axes={"bins": (1024, 256), "work_group_size": (64, 256, 1024), "sub_group_size": "device"},
    requires=("sub_groups",),
)


def count_global_by(bins, lanes):
    fields, bits, mask = fields_of(bins), 64 // fields_of(bins), bins - 1

    @kernel(sub_group_size=lanes)
    def count_global(item: kapi.NdItem, words, counts):
        first = first_word(item, lanes)
        for k in range(BLOCK):
            word = words[first + k * lanes]
            for field in range(fields):
                one_bin = kapi.AtomicRef(counts, (word >> (bits * field)) & mask)
                one_bin.fetch_add(np.int32(1))

    return count_global


def count_local_by(bins, lanes):
    fields, bits, mask = fields_of(bins), 64 // fields_of(bins), bins - 1

    @kernel(sub_group_size=lanes)
    def count_local(item: kapi.NdItem, words, counts, of_group, zeroing_items):
        i = item.get_local_id(0)
        first = first_word(item, lanes)
        if i < zeroing_items:
            for b in range(i, bins, zeroing_items):
                of_group[b] = 0
        kapi.group_barrier(item.get_group())
        for k in range(BLOCK):
            word = words[first + k * lanes]
            for field in range(fields):
                number = (word >> (bits * field)) & mask
                one_bin = kapi.AtomicRef(of_group, number, address_space=kapi.AddressSpace.LOCAL)
                one_bin.fetch_add(np.int32(1))
        kapi.group_barrier(item.get_group())
        for b in range(i, bins, item.get_local_range(0)):
            total = kapi.AtomicRef(counts, b)
            total.fetch_add(of_group[b])

    return count_local


@pattern.problem
def packed_numbers(rng, n, bins):
    return histograms.packed_numbers(rng, n, bins)


@pattern.reference
def expected(p):
    return histograms.counts_of(p.words, p.bins)


@pattern.naive
def bins_of_sub_group(session, p, bins, work_group_size, sub_group_size):
    """The bins of a sub-group are spread over its lanes: 256 fit their registers, 1024 may not."""
    return launcher(session, p, work_group_size, count_together_by(bins, sub_group_size))


@pattern.baseline
def global_atomics(session, p, bins, work_group_size, sub_group_size):
    """Every number is counted by an atomic addition in global memory."""
    return launcher(session, p, work_group_size, count_global_by(bins, sub_group_size))


@pattern.intermediate
def one_item_zeroes(session, p, bins, work_group_size, sub_group_size):
    """Bins of the group in SLM, set to zero by one item while the others wait."""
    of_group = kapi.LocalAccessor(bins, np.int32)
    return launcher(session, p, work_group_size, count_local_by(bins, sub_group_size), of_group, 1)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), where={"bins": 1024}, strength="implied", source="G 2347, 2945 to 2947"),
        Claim("spills", on=("gpu",), where={"bins": 1024}, source="G 2347, 2945"),
        Claim("faster", against="one_item_zeroes", on=("gpu",), source="G 3045"),
    )
)
def local_atomics(session, p, bins, work_group_size, sub_group_size):
    """Bins of the group in SLM, set to zero and added to the global ones by all items together."""
    of_group = kapi.LocalAccessor(bins, np.int32)
    return launcher(session, p, work_group_size, count_local_by(bins, sub_group_size), of_group, work_group_size)


in_opencl(pattern, local_atomics)
