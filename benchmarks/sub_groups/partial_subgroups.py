"""Cut work-groups to a multiple of the sub-group's size, and be right where they are none."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="partial_subgroups",
    catalogue=("E17",),
    guide="Sub-Groups and SIMD Vectorization / Sub-Group Size vs. Maximum Sub-Group Size",
    lesson="The last sub-group of a work-group may be partial: lanes idle, and its size is less than the largest one.",
    claim=Claim("faster", on=("gpu",)),  # ours: the guide warns of wrong results only
    # Rounds of work-items; a round can be cut into work-groups of every size that occurs here.
    presets={
        "smoke": {"rounds": 1},
        "default": {"rounds": {"cpu": 4, "gpu": 32}},
        "guide": {"rounds": 16},
    },
    own_sizes="the guide shows one work-group of 7 items, which is too little to time",
    axes={"odd_size": (7, 17, 31), "sub_group_size": "device"},
    requires=("sub_groups",),
)

ROUND = 7 * 17 * 31 * 192  # work-items
PER_ITEM = 2  # elements that each work-item copies


@kernel(sub_group_size="sub_group_size")
def copy_by_sub_group(item: kapi.NdItem, x, y):
    # the sub-groups before this one are full ones; this one may have fewer lanes
    items_before = (
        item.get_group().get_group_id(0) * item.get_local_range(0) + sub_group.group_id() * sub_group.max_size()
    )
    first = items_before * PER_ITEM + sub_group.local_id()
    step = sub_group.size()
    for k in range(PER_ITEM):
        y[first + k * step] = x[first + k * step]


@kernel(sub_group_size="sub_group_size")
def copy_by_whole_sub_group(item: kapi.NdItem, x, y):
    lanes = sub_group.max_size()  # taken for the size of each, also of the last one
    items_before = item.get_group().get_group_id(0) * item.get_local_range(0) + sub_group.group_id() * lanes
    first = items_before * PER_ITEM + sub_group.local_id()
    for k in range(PER_ITEM):
        if first + k * lanes < y.shape[0]:  # wrong results are shown here, not writes beyond an array
            y[first + k * lanes] = x[first + k * lanes]


@pattern.problem
def integers(rng, rounds):
    n = rounds * ROUND * PER_ITEM
    return Problem(x=rng.integers(0, 1 << 30, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": p.x}


def launch_in_groups(session, p, work_group_size, copy):
    session.launch(copy, kapi.NdRange((p.rounds * ROUND,), (work_group_size,)), p.x, p.y)


@pattern.naive
def odd_groups(session, p, odd_size):
    """Work-groups of 7, 17 or 31 items: each ends with a partial sub-group."""
    launch_in_groups(session, p, odd_size, copy_by_sub_group)


@pattern.antipattern(claim=Claim("wrong", on=("gpu",), strength="implied", source="G 1428"))
def size_assumed(session, p, odd_size):
    """The same groups, by a kernel that takes every sub-group to be full: it leaves elements out."""
    launch_in_groups(session, p, odd_size, copy_by_whole_sub_group)


@pattern.optimized
def whole_sub_groups(session, p, odd_size, sub_group_size):
    """The next multiple of the sub-group's size: no partial sub-groups."""
    whole = ceil_div(odd_size, sub_group_size) * sub_group_size
    launch_in_groups(session, p, whole, copy_by_sub_group)


in_opencl(pattern, whole_sub_groups, requires=("intel_subgroups",))
