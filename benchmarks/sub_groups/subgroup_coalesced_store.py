"""Store contiguous elements with each instruction of a sub-group, not with each work-item.

The guide counts as many stores on both sides, of which one side's are scattered. Intel's compiler joins the 16 stores
of the naive variant into 4 of vectors, so the advice may not hold on a GPU for this program;
``subgroup_coalesced_copy`` is the clearer pair.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="subgroup_coalesced_store",
    catalogue=("E12",),
    guide="Sub-Groups and SIMD Vectorization / Vectorization and Memory Access",
    lesson="A store instruction writes one element per lane: neighbouring lanes should write neighbouring elements.",
    presets={
        "smoke": {"n": (1 << 20, 251 << 12)},
        "default": {"n": {"cpu": 1 << 23, "gpu": fit(1 << 25, bytes_each=4)}},
        "guide": {"n": 1024 * 1024},
    },
    # numba-dpex alone cannot ask for the sub-group's size: one variant is given the lanes to interleave by.
    # The guide's work-groups are of 32 items.
    axes={"interleave": (16,), "work_group_size": (32, 256)},
)

PER_ITEM = 16  # elements that each work-item stores


@kernel
def store_contiguous(item: kapi.NdItem, x, value):
    first = item.get_global_id(0) * PER_ITEM
    for k in range(PER_ITEM):
        x[first + k] = value


def store_interleaved_by(interleave):
    """The kernel with ``interleave`` as a constant, as a sub-group size is to the compiler: no divisions remain."""

    @kernel
    def store_interleaved(item: kapi.NdItem, x, value):
        i = item.get_global_id(0)
        first = i // interleave * interleave * PER_ITEM + i % interleave
        for k in range(PER_ITEM):
            x[first + k * interleave] = value

    return store_interleaved


@kernel
def store_by_sub_group(item: kapi.NdItem, x, value):
    # a group's last sub-group may have fewer lanes than the others: its size counts, not the largest one
    lanes = sub_group.size()
    items_before = (
        item.get_group().get_group_id(0) * item.get_local_range(0) + sub_group.group_id() * sub_group.max_size()
    )
    first = items_before * PER_ITEM + sub_group.local_id()
    for k in range(PER_ITEM):
        x[first + k * lanes] = value


@pattern.problem
def one_value(rng, n, work_group_size):
    if n % (PER_ITEM * work_group_size):
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {PER_ITEM * work_group_size}")
    return Problem(value=-int(rng.integers(1, 100)), x=output(n, np.int32), bytes_moved=4 * n)


@pattern.reference
def expected(p):
    return {"x": np.full(p.n, p.value, np.int32)}


@pattern.naive
def contiguous_per_item(session, p, work_group_size):
    """Each work-item stores 16 elements in a row, so the lanes of one instruction lie 64 bytes apart."""
    session.launch(store_contiguous, kapi.NdRange((p.n // PER_ITEM,), (work_group_size,)), p.x, p.value)


@pattern.intermediate(claim=Claim("faster", on=("gpu",)))
def interleaved_by_constant(session, p, work_group_size, interleave):
    """Each instruction stores neighbouring elements, if the sub-group has as many lanes as are assumed."""
    store_interleaved = store_interleaved_by(interleave)
    items = kapi.NdRange((p.n // PER_ITEM,), (work_group_size,))
    return lambda: session.launch(store_interleaved, items, p.x, p.value)


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 1176 to 1178"), requires=("sub_groups",))
def interleaved_by_lane(session, p, work_group_size):
    """The same with the sub-group's own size and the lanes' numbers, whatever size the compiler chose."""
    session.launch(store_by_sub_group, kapi.NdRange((p.n // PER_ITEM,), (work_group_size,)), p.x, p.value)


in_opencl(pattern, interleaved_by_constant)
