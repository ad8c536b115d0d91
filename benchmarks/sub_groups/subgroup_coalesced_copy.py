"""Load and store contiguous elements with each instruction of a sub-group, not with each work-item."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="subgroup_coalesced_copy",
    catalogue=("E13",),
    guide="Sub-Groups and SIMD Vectorization / Vectorization and Memory Access",
    lesson="What holds for stores holds for loads: contiguous elements per work-item are gathers and scatters.",
    presets={
        "smoke": {"n": (1 << 19, 127 << 12)},
        "default": {"n": {"cpu": 1 << 23, "gpu": fit(1 << 25, bytes_each=8)}},
        "guide": {"n": 1024 * 1024},
    },
    # One variant is ours: it has the number of lanes to interleave by as a constant, as a program for one device may.
    # The guide's work-groups are of 32 items.
    axes={"interleave": (16,), "work_group_size": (256, 32)},
)

PER_ITEM = 16  # elements that each work-item copies


@kernel
def copy_contiguous(item: kapi.NdItem, x, y):
    first = item.get_global_id(0) * PER_ITEM
    for k in range(PER_ITEM):
        y[first + k] = x[first + k]


def copy_interleaved_by(interleave):
    """The kernel with ``interleave`` as a constant, as a sub-group size is to the compiler: no divisions remain."""

    @kernel
    def copy_interleaved(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        first = i // interleave * interleave * PER_ITEM + i % interleave
        for k in range(PER_ITEM):
            y[first + k * interleave] = x[first + k * interleave]

    return copy_interleaved


@kernel
def copy_by_sub_group(item: kapi.NdItem, x, y):
    # a group's last sub-group may have fewer lanes than the others: its size counts, not the largest one
    lanes = sub_group.size()
    items_before = (
        item.get_group().get_group_id(0) * item.get_local_range(0) + sub_group.group_id() * sub_group.max_size()
    )
    first = items_before * PER_ITEM + sub_group.local_id()
    for k in range(PER_ITEM):
        y[first + k * lanes] = x[first + k * lanes]


@pattern.problem
def integers(rng, n, work_group_size):
    if n % (PER_ITEM * work_group_size):
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {PER_ITEM * work_group_size}")
    return Problem(x=rng.integers(0, 1 << 30, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": p.x}


@pattern.naive
def contiguous_per_item(session, p, work_group_size):
    """Each work-item copies 16 elements in a row, so the lanes of one instruction lie 64 bytes apart."""
    session.launch(copy_contiguous, kapi.NdRange((p.n // PER_ITEM,), (work_group_size,)), p.x, p.y)


@pattern.intermediate(claim=Claim("faster", on=("gpu",)))
def interleaved_by_constant(session, p, work_group_size, interleave):
    """Each instruction copies neighbouring elements, if the sub-group has as many lanes as are assumed."""
    copy_interleaved = copy_interleaved_by(interleave)
    items = kapi.NdRange((p.n // PER_ITEM,), (work_group_size,))
    return lambda: session.launch(copy_interleaved, items, p.x, p.y)


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 1199 to 1226"), requires=("sub_groups",))
def interleaved_by_lane(session, p, work_group_size):
    """The same with the sub-group's own size and the lanes' numbers, whatever size the compiler chose."""
    session.launch(copy_by_sub_group, kapi.NdRange((p.n // PER_ITEM,), (work_group_size,)), p.x, p.y)


in_opencl(pattern, interleaved_by_constant)
