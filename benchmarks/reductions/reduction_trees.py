"""Sum an array: a work-group adds up its elements in shared local memory, and a second tree the groups' sums."""

import numpy as np

from xebench import Claim, Pattern, ceil_div, fit, kernel
from xebench import kernel_api as kapi
from xebench.dpex import work_group

from ..common import reductions
from ..common.reductions import add_in_groups, add_on_host, add_to_one_total, partial_sums, tree

pattern = Pattern(
    name="reduction_trees",
    catalogue=("E48",),
    guide="Kernels / Reduction",
    lesson="A tree in each work-group leaves a sum of each group to the host; a second one leaves it next to nothing.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 25, bytes_each=4)}},
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    axes={"work_group_size": (256,)},
    metric="wall",  # the host's part of the sum counts, or the second stage has nothing to save
    state="cold",  # the guide flushes the caches between its runs
)


@kernel
def sum_group(item: kapi.NdItem, x, partials, scratch):
    i = item.get_global_id(0)
    lane = item.get_local_id(0)
    scratch[lane] = x[i] if i < x.shape[0] else np.int32(0)
    tree(item, scratch)
    if lane == 0:
        partials[item.get_group().get_group_id(0)] = scratch[0]


@kernel
def add_group(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    of_group = work_group.reduce_add(x[i] if i < x.shape[0] else np.int32(0))
    if item.get_local_id(0) == 0:
        kapi.AtomicRef(total, index=0).fetch_add(of_group)


pattern.problem(reductions.numbers)
pattern.reference(reductions.expected)


@pattern.naive
def tree_one_stage(session, p, work_group_size):
    """One element a work-item, a tree in each group; the host adds a partial sum of every group."""
    return add_in_groups(session, p, sum_group, work_group_size)


@pattern.optimized(claim=Claim("faster", source="G 4483"))
def tree_two_stages(session, p, work_group_size):
    """The partial sums of the first tree go through a second one before the host sees them."""
    groups = ceil_div(p.n, work_group_size)
    second_groups = ceil_div(groups, work_group_size)
    first = session.alloc(groups, np.int32)
    partials, host = partial_sums(session, second_groups)
    scratch = kapi.LocalAccessor(work_group_size, np.int32)
    stage_1 = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    stage_2 = kapi.NdRange((second_groups * work_group_size,), (work_group_size,))

    def timed():
        session.launch(sum_group, stage_1, p.x, first, scratch)
        session.launch(sum_group, stage_2, first, partials, scratch)
        add_on_host(session, p, partials, host)

    return timed


@pattern.optimized(
    claim=Claim("faster", against="tree_two_stages", strength="implied", source="G 4546"), requires=("sub_groups",)
)
def group_function(session, p, work_group_size):
    """One element a work-item, the group's sum by the built-in function, an atomic addition for each group."""
    return add_to_one_total(session, p, add_group, work_group_size)
