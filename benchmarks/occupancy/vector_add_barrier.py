"""Take work-groups that divide the threads of a core, the more so where they have a barrier."""

from xebench import Claim, Pattern

from ..common import vector_add

pattern = Pattern(
    name="vector_add_barrier",
    catalogue=("E09",),
    guide="Thread Mapping and GPU Occupancy / A Detailed Example",
    lesson="Without a barrier a work-group can start in parts, on whatever threads are free; with one it waits.",
    # In the guide 8 work-groups of 320 stand against 24 of 224, which are twice as many work-items with three times the
    # work. Here all launches have the same work-items and elements; each of them fills the device several times.
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 18, "gpu": 1 << 21}},  # in the last cache
        "guide": {"n": 24 * (1 << 17)},
    },
    # The guide's sub-groups have 8 lanes: groups of 40 and 28 threads, on cores of 112. With 16 lanes they have 20 and
    # 14 threads, with 32 they have 10 and 7. Where a device offers 8: --set sub_group_size=8.
    axes={"sub_group_size": "device"},
    requires=("sub_groups",),
    short_launches="the arrays stay in the last cache",
)

ODD = 320
DIVIDING = 224
COMMON = 2240  # divided by both


@pattern.problem
def integers(rng, n):
    return vector_add.integers(rng, n)


@pattern.reference
def expected(p):
    return vector_add.added(p)


def groups_of(size, session, p, add):
    """As many groups of this size as hold at least four times the work-items that the device does."""
    items = -(-4 * session.lanes // COMMON) * COMMON
    return vector_add.launch_groups(session, p, add, size, items // size)


@pattern.naive
def odd_groups(session, p, sub_group_size):
    """Work-groups of 320: two on a core of the guide's GPU, and a third in parts."""
    return groups_of(ODD, session, p, vector_add.add_strided_in(sub_group_size))


# That the barrier, which is not needed, changes the schedule is what the guide shows (G 869, 928 to 930); whether it
# costs time, it does not say.
@pattern.antipattern
def odd_groups_with_barrier(session, p, sub_group_size):
    """The same with a barrier, at which a group that is there in parts waits for the rest of it."""
    return groups_of(ODD, session, p, vector_add.add_after_barrier_in(sub_group_size))


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 932 to 941"))
def dividing_groups(session, p, sub_group_size):
    """Work-groups of 224: four fill a core."""
    return groups_of(DIVIDING, session, p, vector_add.add_strided_in(sub_group_size))


@pattern.optimized(
    claim=Claim("faster", against="odd_groups_with_barrier", on=("gpu",), strength="implied", source="G 932 to 941")
)
def dividing_groups_with_barrier(session, p, sub_group_size):
    """The same with a barrier."""
    return groups_of(DIVIDING, session, p, vector_add.add_after_barrier_in(sub_group_size))
