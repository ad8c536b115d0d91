"""Count into bins that a work-group shares: without a barrier, or without atomics, counts may be lost."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, inout, kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="missing_barriers",
    catalogue=("E36",),
    guide="Shared Local Memory / Data Sharing and Work-group Barriers",
    lesson="Bins in SLM need a barrier behind the zeros, atomic additions, and a barrier before they are read.",
    # `slm_histogram` has the guide's program; here a number's lower bits are its bin, and nothing else is in the way.
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 22, per_lane=16)}},
        "guide": {"n": 4096 * 4096},
    },
    axes={"work_group_size": (256,)},
    short_launches="the claims are about wrong results, not about times",
)

BINS = 256
PER_ITEM = 16  # numbers that a work-item counts


@kernel
def count(item: kapi.NdItem, x, counts, of_group):
    place, size = item.get_local_id(0), item.get_local_range(0)
    for b in range(place, BINS, size):
        of_group[b] = np.int32(0)
    kapi.group_barrier(item.get_group())
    for i in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
        kapi.AtomicRef(of_group, x[i] % BINS, address_space=kapi.AddressSpace.LOCAL).fetch_add(np.int32(1))
    kapi.group_barrier(item.get_group())
    for b in range(place, BINS, size):
        kapi.AtomicRef(counts, b).fetch_add(of_group[b])


@kernel
def count_before_zeros(item: kapi.NdItem, x, counts, of_group):
    place, size = item.get_local_id(0), item.get_local_range(0)
    for b in range(place, BINS, size):
        of_group[b] = np.int32(0)
    for i in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
        kapi.AtomicRef(of_group, x[i] % BINS, address_space=kapi.AddressSpace.LOCAL).fetch_add(np.int32(1))
    kapi.group_barrier(item.get_group())
    for b in range(place, BINS, size):
        kapi.AtomicRef(counts, b).fetch_add(of_group[b])


@kernel
def count_without_atomics(item: kapi.NdItem, x, counts, of_group):
    place, size = item.get_local_id(0), item.get_local_range(0)
    for b in range(place, BINS, size):
        of_group[b] = np.int32(0)
    kapi.group_barrier(item.get_group())
    for i in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
        of_group[x[i] % BINS] += np.int32(1)
    kapi.group_barrier(item.get_group())
    for b in range(place, BINS, size):
        kapi.AtomicRef(counts, b).fetch_add(of_group[b])


@kernel
def read_while_counted(item: kapi.NdItem, x, counts, of_group):
    place, size = item.get_local_id(0), item.get_local_range(0)
    for b in range(place, BINS, size):
        of_group[b] = np.int32(0)
    kapi.group_barrier(item.get_group())
    for i in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
        kapi.AtomicRef(of_group, x[i] % BINS, address_space=kapi.AddressSpace.LOCAL).fetch_add(np.int32(1))
    for b in range(place, BINS, size):
        kapi.AtomicRef(counts, b).fetch_add(of_group[b])


@pattern.problem
def numbers(rng, n):
    return Problem(
        x=rng.integers(0, 1 << 30, n, dtype=np.int32),
        counts=inout(np.zeros(BINS, np.int32)),
        bytes_moved=4 * n + 2 * 4 * BINS,
    )


@pattern.reference
def expected(p):
    return {"counts": np.bincount(p.x % BINS, minlength=BINS)}


def launch_groups(session, p, work_group_size, counting):
    groups = ceil_div(p.n, PER_ITEM * work_group_size)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    session.launch(counting, space, p.x, p.counts, kapi.LocalAccessor(BINS, np.int32))


def may_be_wrong(lines):
    return Claim("may be wrong", on=("gpu",), strength="implied", source=lines)


@pattern.naive(claim=may_be_wrong("G 3047"))
def zeros_not_awaited(session, p, work_group_size):
    """No barrier behind the zeros: one sub-group may count before another has set the bin to zero."""
    launch_groups(session, p, work_group_size, count_before_zeros)


@pattern.antipattern(claim=may_be_wrong("G 3049"))
def updates_not_atomic(session, p, work_group_size):
    """Bins are read, increased and written: of two items at one bin, one may be lost."""
    launch_groups(session, p, work_group_size, count_without_atomics)


@pattern.antipattern(claim=may_be_wrong("G 3051"))
def counts_not_awaited(session, p, work_group_size):
    """No barrier before the bins are added to the global ones: others may still count."""
    launch_groups(session, p, work_group_size, read_while_counted)


@pattern.optimized
def both_barriers(session, p, work_group_size):
    """All wait for the zeros, and for each other's atomic additions."""
    launch_groups(session, p, work_group_size, count)
