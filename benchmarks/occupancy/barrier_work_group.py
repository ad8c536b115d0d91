"""Cut work-groups with a barrier so that whole ones fill a core: the threads that are left over stay empty."""

import numpy as np

from xebench import Claim, Pattern, ceil_div, fit, kernel
from xebench import kernel_api as kapi

from ..common import latency_chain
from ..common.latency_chain import advance

pattern = Pattern(
    name="barrier_work_group",
    catalogue=("E06",),
    guide="Thread Mapping and GPU Occupancy / Impact of Work-item Synchronization within Work-group",
    lesson="A work-group with a barrier runs on one core, whole: if it is a little more than half a core, one fits.",
    # The guide's work-groups are 1 x R x 128 of 64 x 64 x 128, which three rows do not divide; here the last
    # work-group is padded, and there is one dimension: how many work-items a group has is all that counts.
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 16},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=16)}, "steps": 64},
        "guide": {"n": 64 * 64 * 128, "steps": 64},
    },
    # The guide's example has 112 threads a core and sub-groups of 8 (G 516 to 530): its groups of 512 leave 43 % of the
    # core empty. They fill the cores of other GPUs, so that the fullest and the emptiest launch follow from the device.
    axes={"sub_group_size": ("narrow",)},
    requires=("sub_groups",),
)

ROW = 128  # work-items of the guide's rows
PARTNERS = latency_chain.ROW  # neighbouring work-items that meet: each with its mirror image


@kernel(sub_group_size="sub_group_size")
def meet(item: kapi.NdItem, x, y, of_group, steps):
    i = item.get_global_id(0)
    place = item.get_local_id(0)
    own = advance(x[i], steps // 2) if i < y.shape[0] else np.int32(0)
    of_group[place] = own
    kapi.group_barrier(item.get_group())
    if i < y.shape[0]:
        y[i] = advance(np.int32(own ^ of_group[place ^ (PARTNERS - 1)]), steps // 2)


@pattern.problem
def integers(rng, n, steps):
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.met(p)}


def launch_groups(size, session, p):
    space = kapi.NdRange((ceil_div(p.n, size) * size,), (size,))
    session.launch(meet, space, p.x, p.y, kapi.LocalAccessor(size, np.int32), p.steps)


def filled(session, lanes):
    """The part of a core's threads that work-groups of each possible size fill, by that size."""
    threads = session.core_threads(lanes)
    sizes = range(PARTNERS, session.device.max_work_group_size + 1, PARTNERS)
    of_group = {size: ceil_div(size, lanes) for size in sizes}
    parts = {size: threads // each * each / threads for size, each in of_group.items() if each <= threads}
    return parts or {PARTNERS: 1}  # a CPU's core, which holds less than a row


def fuller(lines):
    """The guide's table, of its example alone: `xebench occupancy --gpu` has that of another GPU."""
    return Claim(
        "faster",
        against="four_rows",
        on=("gpu",),
        requires=("threads_per_core=112",),
        where={"sub_group_size": 8},
        strength="implied",
        source=lines,
    )


@pattern.naive
def emptiest_groups(session, p, sub_group_size):
    """The work-groups that leave most of a core empty: a little more than half of it, where they may be so large."""
    parts = filled(session, sub_group_size)
    launch_groups(min(parts, key=parts.get), session, p)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 516 to 531"))
def filling_groups(session, p, sub_group_size):
    """The largest work-groups below these that fill a core, so that groups are of nearly equal size."""
    parts = filled(session, sub_group_size)
    emptiest = min(parts, key=parts.get)
    fullest = max(part for size, part in parts.items() if size <= emptiest)
    launch_groups(max(size for size, part in parts.items() if part == fullest and size <= emptiest), session, p)


@pattern.intermediate
def four_rows(session, p):
    """The guide's work-groups of 512: there 64 threads, of which one is resident, and 57 % of the threads have work."""
    launch_groups(4 * ROW, session, p)


@pattern.intermediate(claim=fuller("G 518 to 529"))
def three_rows(session, p):
    """Work-groups of 384: two are resident, 86 %."""
    launch_groups(3 * ROW, session, p)


@pattern.intermediate(claim=fuller("G 518 to 528"))
def two_rows(session, p):
    """Work-groups of 256: three are resident, 86 %."""
    launch_groups(2 * ROW, session, p)


@pattern.intermediate(claim=fuller("G 516 to 525"))
def one_row(session, p):
    """Work-groups of 128, of which whole ones fill a core of any of Intel's GPUs: seven of the guide's."""
    launch_groups(1 * ROW, session, p)


# The guide's GPU allows 512 work-items; others allow this group.
@pattern.antipattern(
    claim=Claim("error", kind="work-group", on=("gpu",), requires=("threads_per_core=112",), source="G 518, 531")
)
def five_rows(session, p):
    """Work-groups of 640, which the guide's GPU refuses."""
    launch_groups(5 * ROW, session, p)
