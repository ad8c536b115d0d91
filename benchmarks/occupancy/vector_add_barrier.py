"""Take work-groups that divide the threads of a core, the more so where they have a barrier."""

import math

from xebench import Claim, Pattern, ceil_div, fit

from ..common import vector_add

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
    own_sizes="in the guide 8 work-groups of 320 stand against 24 of 224 with three times the work; here all launches "
    "add the same elements, and fill the device four times",
    axes={"sub_group_size": ("narrow",)},  # the guide's is 8: groups of 40 and 28 threads, on cores of 112
    requires=("sub_groups",),
    short_launches="the arrays stay in the last cache",
)

ODD = 40 / 112  # of a core's threads: two groups fit, and 32 threads stay empty
DIVIDING = 28 / 112


@pattern.problem
def integers(rng, n):
    return vector_add.integers(rng, n)


@pattern.reference
def expected(p):
    return vector_add.added(p)


def groups_of(part, session, p, add, lanes):
    """Work-groups of such a part of a core, or of a half, a quarter, ... where a group cannot be as large.

    All have about four times the work-items that the device holds.
    """
    threads = session.core_threads(lanes)
    while ODD * threads * lanes > session.device.max_work_group_size:
        threads /= 2
    size = math.ceil(part * threads) * lanes
    return vector_add.launch_groups(session, p, add, size, ceil_div(4 * session.lanes, size))


@pattern.naive
def odd_groups(session, p, sub_group_size):
    """Work-groups of 320 on the guide's GPU: two on a core, and a third in parts."""
    return groups_of(ODD, session, p, vector_add.add_strided_in(sub_group_size), sub_group_size)


# That the barrier, which is not needed, changes the schedule is what the guide shows (G 869, 928 to 930); whether it
# costs time, it does not say.
@pattern.antipattern
def odd_groups_with_barrier(session, p, sub_group_size):
    """The same with a barrier, at which a group that is there in parts waits for the rest of it."""
    return groups_of(ODD, session, p, vector_add.add_after_barrier_in(sub_group_size), sub_group_size)


# Without a barrier a group starts in parts, and no threads stay empty (G 928): that it is faster is ours.
@pattern.optimized(claim=Claim("faster", on=("gpu",)))
def dividing_groups(session, p, sub_group_size):
    """Work-groups of 224 there: four fill a core."""
    return groups_of(DIVIDING, session, p, vector_add.add_strided_in(sub_group_size), sub_group_size)


@pattern.optimized(
    claim=Claim("faster", against="odd_groups_with_barrier", on=("gpu",), strength="implied", source="G 932 to 941")
)
def dividing_groups_with_barrier(session, p, sub_group_size):
    """The same with a barrier."""
    return groups_of(DIVIDING, session, p, vector_add.add_after_barrier_in(sub_group_size), sub_group_size)
