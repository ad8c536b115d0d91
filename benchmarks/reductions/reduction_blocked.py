"""Sum an array in blocks: each work-item adds up many elements before its work-group meets."""

import numpy as np

from xebench import Claim, Pattern, ceil_div, device_func, fit, kernel
from xebench import kernel_api as kapi
from xebench.dpex import sub_group, work_group

from ..common import reductions
from ..common.in_opencl import in_opencl
from ..common.reductions import add_in_groups, add_to_one_total, tree

pattern = Pattern(
    name="reduction_blocked",
    catalogue=("E48",),
    guide="Kernels / Reduction",
    lesson="With 32 elements for a work-item a group meets a 32nd as often, and how it then adds up hardly matters.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 25, bytes_each=4)}},
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    axes={"work_group_size": (256,), "sub_group_size": "device"},
    metric="wall",  # the host's part of the sum counts
    state="cold",  # the guide flushes the caches between its runs
)

PER_ITEM = 32  # elements that a work-item of a blocked kernel adds up
BLOCKS = 8  # neighbouring blocks of an element a lane that one operation reads
PER_LANE = 64  # elements that a lane of such a sub-group adds up
WIDER = 2  # the guide's last two kernels have work-groups of 512


@kernel
def sum_group(item: kapi.NdItem, x, partials, scratch):
    i = item.get_global_id(0)
    lane = item.get_local_id(0)
    scratch[lane] = x[i] if i < x.shape[0] else np.int32(0)
    tree(item, scratch)
    if lane == 0:
        partials[item.get_group().get_group_id(0)] = scratch[0]


@device_func
def sum_own(item, x):
    """What this work-item has of its group's block: every ``work_group_size``-th of the block's elements."""
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size * PER_ITEM
    end = min(first + size * PER_ITEM, x.shape[0])
    total = np.int32(0)
    k = first + item.get_local_id(0)
    while k < end:
        total = np.int32(total + x[k])
        k += size
    return total


@kernel
def sum_block_serially(item: kapi.NdItem, x, partials, scratch):
    lane = item.get_local_id(0)
    scratch[lane] = sum_own(item, x)
    kapi.group_barrier(item.get_group())
    if lane == 0:
        total = np.int32(0)
        for k in range(item.get_local_range(0)):
            total = np.int32(total + scratch[k])
        partials[item.get_group().get_group_id(0)] = total


@kernel
def sum_block_by_tree(item: kapi.NdItem, x, partials, scratch):
    lane = item.get_local_id(0)
    scratch[lane] = sum_own(item, x)
    tree(item, scratch)
    if lane == 0:
        partials[item.get_group().get_group_id(0)] = scratch[0]


@kernel
def add_block(item: kapi.NdItem, x, total):
    of_group = work_group.reduce_add(sum_own(item, x))
    if item.get_local_id(0) == 0:
        kapi.AtomicRef(total, index=0).fetch_add(of_group)


@kernel(sub_group_size="sub_group_size")
def sum_sub_group_blocks(item: kapi.NdItem, x, partials, scratch):
    lane = item.get_local_id(0)
    lanes = sub_group.max_size()
    group = item.get_group().get_group_id(0)
    first = (group * item.get_local_range(0) + sub_group.group_id() * lanes) * PER_LANE
    end = min(first + lanes * PER_LANE, x.shape[0])
    total = np.int32(0)
    while first + BLOCKS * lanes <= end:
        a, b, c, d, e, f, g, h = sub_group.block_read8(x, first)
        total = np.int32(total + a + b + c + d + e + f + g + h)
        first += BLOCKS * lanes
    k = first + sub_group.local_id()
    while k < end:
        total = np.int32(total + x[k])
        k += lanes
    scratch[lane] = total
    tree(item, scratch)
    if lane == 0:
        partials[group] = scratch[0]


@kernel
def sum_partials(item: kapi.NdItem, partials, total, scratch):
    lane = item.get_local_id(0)
    own = np.int32(0)
    for k in range(lane, partials.shape[0], item.get_local_range(0)):
        own = np.int32(own + partials[k])
    scratch[lane] = own
    tree(item, scratch)
    if lane == 0:
        total[0] = scratch[0]


pattern.problem(reductions.numbers)
pattern.reference(reductions.expected)


@pattern.naive
def tree_one_stage(session, p, work_group_size):
    """One element a work-item, a tree in each group; the host adds a partial sum of every group."""
    return add_in_groups(session, p, sum_group, work_group_size)


@pattern.optimized(claim=Claim("faster", strength="implied", source="G 4560"))
def blocked_then_serial(session, p, work_group_size):
    """Each work-item adds up 32 elements of its group's block, one work-item adds up the group's sums."""
    return add_in_groups(session, p, sum_block_serially, work_group_size, PER_ITEM)


# in most cases no big difference, says the guide without a figure: less than a tenth, says this
@pattern.optimized(claim=Claim("same", against="blocked_then_serial", within=0.1, source="G 4592"))
def blocked_then_tree(session, p, work_group_size):
    """Each work-item adds up 32 elements of its group's block, a tree adds up the group's sums."""
    return add_in_groups(session, p, sum_block_by_tree, work_group_size, PER_ITEM)


@pattern.optimized(claim=Claim("faster", strength="implied", source="G 4631"), requires=("sub_groups",))
def blocked_then_group_function(session, p, work_group_size):
    """Each work-item adds up 32 elements of its group's block, the built-in function adds up the group's sums."""
    return add_to_one_total(session, p, add_block, WIDER * work_group_size, PER_ITEM)


# the guide says only that it is different (G 4654); its groups add up vectors of eight, and so does its host
@pattern.optimized(claim="faster", requires=("sub_groups",))
def block_loads_then_tree(session, p, work_group_size):
    """Each sub-group reads eight blocks at a time, 64 elements a lane; a tree adds up the group's sums."""
    return add_in_groups(session, p, sum_sub_group_blocks, WIDER * work_group_size, PER_LANE)


# "In some cases it may be better", says the guide (G 4654).
@pattern.optimized(
    claim=Claim("faster", against="block_loads_then_tree", strength="implied", source="G 4654"),
    requires=("sub_groups",),
)
def block_loads_then_second_kernel(session, p, work_group_size):
    """The same, and a second kernel of one work-group adds up the groups' sums by a tree: one number is copied."""
    size = WIDER * work_group_size
    groups = ceil_div(p.n, size * PER_LANE)
    partials, total = session.alloc(groups, np.int32), session.alloc(1, np.int32)
    scratch = kapi.LocalAccessor(size, np.int32)

    def timed():
        session.launch(sum_sub_group_blocks, kapi.NdRange((groups * size,), (size,)), p.x, partials, scratch)
        session.launch(sum_partials, kapi.NdRange((size,), (size,)), partials, total, scratch)
        session.copy(p.total, total)

    return timed


in_opencl(pattern, blocked_then_tree)
