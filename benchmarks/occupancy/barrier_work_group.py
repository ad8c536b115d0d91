"""Cut work-groups with a barrier so that whole ones fill a core: the threads that are left over stay empty."""

from xebench import Claim, Pattern, fit

from ..common import latency_chain

pattern = Pattern(
    name="barrier_work_group",
    catalogue=("E06",),
    guide="Thread Mapping and GPU Occupancy / Impact of Work-item Synchronization within Work-group",
    lesson="A work-group with a barrier runs on one core, whole: if half of it is more than half a core, one fits.",
    # The guide's work-groups are 1 x R x 128 of 64 x 64 x 128, which three rows do not divide; here the last
    # work-group is padded, and there is one dimension: how many work-items a group has is all that counts.
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 16},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=16)}, "steps": 64},
        "guide": {"n": 64 * 64 * 128, "steps": 64},
    },
    # The guide's example: 112 threads a core, sub-groups of 8, so 7, 3, 2 and 1 work-groups that fill it by 100, 86,
    # 86 and 57 % (G 516 to 530). Other cores are filled otherwise: the naive work-group is the worst of the device.
    axes={"sub_group_size": ("narrow",)},
    requires=("sub_groups",),
)

ROW = 128  # work-items


@pattern.problem
def integers(rng, n, steps):
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.met(p)}


def rows(number, session, p, lanes):
    return latency_chain.launch_meeting(session, p, number * ROW, lanes)


def idle_threads(number, session, lanes):
    """Of a core, when as many work-groups of so many rows are there as it holds."""
    return session.core_threads(lanes) % (number * ROW // lanes)


@pattern.naive
def emptiest_rows(session, p, sub_group_size):
    """The work-group that leaves most threads empty: on the guide's GPU four rows, 512, of which one is resident."""
    able = range(1, session.device.max_work_group_size // ROW + 1)
    worst = max(able, key=lambda number: (idle_threads(number, session, sub_group_size), number))
    return rows(worst, session, p, sub_group_size)


def fuller(lines):
    """The guide's table, of its example alone."""
    said = {"on": ("gpu",), "requires": ("threads_per_core=112",), "where": {"sub_group_size": 8}}
    return Claim("faster", strength="implied", source=lines, **said)


@pattern.intermediate(claim=fuller("G 518 to 529"))
def three_rows(session, p, sub_group_size):
    """Work-groups of 384."""
    return rows(3, session, p, sub_group_size)


@pattern.intermediate(claim=fuller("G 518 to 528"))
def two_rows(session, p, sub_group_size):
    """Work-groups of 256."""
    return rows(2, session, p, sub_group_size)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 516 to 525"))
def one_row(session, p, sub_group_size):
    """Work-groups of 128, of which whole ones fill a core of any of Intel's GPUs: seven of the guide's."""
    return rows(1, session, p, sub_group_size)


# The guide's GPU allows 512 work-items; others allow this group.
@pattern.antipattern(
    claim=Claim("error", kind="work-group", on=("gpu",), requires=("threads_per_core=112",), source="G 518, 531")
)
def five_rows(session, p, sub_group_size):
    """Work-groups of 640, which the guide's GPU refuses."""
    return rows(5, session, p, sub_group_size)
