"""Take work-groups that divide the threads of a core, and many of them, the more so where they have a barrier."""

import math

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="vector_add_barrier",
    catalogue=("E09",),
    guide="Thread Mapping and GPU Occupancy / A Detailed Example",
    lesson="Without a barrier a work-group can start in parts, on whatever threads are free; with one it waits.",
    presets={
        "smoke": {"n": (1 << 16, 65521), "rounds": 2},
        # the three arrays in half of the last cache or less
        "default": {
            "n": {"cpu": 1 << 18, "gpu": fit(1 << 16, per_cache_byte=1 / 48)},
            "rounds": {"cpu": 4, "gpu": 200},
        },
        "guide": {"n": 24 * (1 << 17), "rounds": 10_000},
    },
    own_sizes="in the guide each work-group adds a slice of 131,072; here 8 groups add slices three times as long as "
    "24, so that all launches do the same work",
    axes={"sub_group_size": ("narrow",)},  # the guide's is 8
    requires=("sub_groups",),
    short_launches="the arrays stay in the last cache",
)

# The guide's launches on its GPU, which has 6 cores of 112 threads: 8 work-groups of 320 (40 threads each: two fit a
# core, and 32 threads stay empty) and 24 of 224 (28 threads each: four fill a core). As parts of a core, for any GPU:
ODD = 40 / 112
DIVIDING = 28 / 112


@kernel(sub_group_size="sub_group_size")
def add_slice(item: kapi.NdItem, a, b, total, part, rounds):  # VectorAdd3, G 846 to 851
    first = item.get_group().get_group_id(0) * part
    end = min(first + part, total.shape[0])
    for _ in range(rounds):
        i = first + item.get_local_id(0)
        while i < end:
            total[i] = a[i] + b[i]
            i += item.get_local_range(0)


@kernel(sub_group_size="sub_group_size")
def add_slice_after_barrier(item: kapi.NdItem, a, b, total, part, rounds):  # VectorAdd4, G 889 to 901
    kapi.group_barrier(item.get_group())  # which nothing here needs
    first = item.get_group().get_group_id(0) * part
    end = min(first + part, total.shape[0])
    for _ in range(rounds):
        i = first + item.get_local_id(0)
        while i < end:
            total[i] = a[i] + b[i]
            i += item.get_local_range(0)


@pattern.problem
def integers(rng, n):
    a, b = (rng.integers(0, 1 << 30, n, dtype=np.int32) for _ in range(2))
    return Problem(a=a, b=b, total=output(n, np.int32), bytes_moved=12 * n)


@pattern.reference
def expected(p):
    return {"total": p.a + p.b}


def launcher(session, p, lanes, add, part_of_core):
    """The work-groups of dividing size fill the device once, and a third as many are of odd size.

    Where a work-group cannot be as large they are a half of these parts of a core, a quarter, ...
    """
    threads = session.core_threads(lanes)
    while ODD * threads * lanes > session.device.max_work_group_size:
        threads /= 2
    size = math.ceil(part_of_core * threads) * lanes
    groups = session.cores * (session.core_threads(lanes) // math.ceil(DIVIDING * threads))
    if part_of_core == ODD:
        groups = ceil_div(groups, 3)
    space, part = kapi.NdRange((groups * size,), (size,)), ceil_div(p.n, groups)
    return lambda: session.launch(add, space, p.a, p.b, p.total, part, p.rounds)


@pattern.naive
def odd_groups_with_barrier(session, p, sub_group_size):
    """8 work-groups of 320 on the guide's GPU; one of which parts are there waits at the barrier for the rest."""
    return launcher(session, p, sub_group_size, add_slice_after_barrier, ODD)


# That the barrier changes the schedule is what the guide shows (G 869, 928 to 930); whether it costs time, it does not
# say.
@pattern.antipattern
def odd_groups(session, p, sub_group_size):
    """The same without the barrier: the rest of such a group starts where threads are free."""
    return launcher(session, p, sub_group_size, add_slice, ODD)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 932 to 941"))
def dividing_groups_with_barrier(session, p, sub_group_size):
    """24 work-groups of 224 there: four fill each core."""
    return launcher(session, p, sub_group_size, add_slice_after_barrier, DIVIDING)


@pattern.optimized(claim=Claim("faster", against="odd_groups", on=("gpu",), strength="implied", source="G 932 to 941"))
def dividing_groups(session, p, sub_group_size):
    """The same without the barrier."""
    return launcher(session, p, sub_group_size, add_slice, DIVIDING)
