"""Read and write a sub-group's contiguous elements as one block."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group, vector

pattern = Pattern(
    name="subgroup_block_io",
    catalogue=("E15",),
    guide="Sub-Groups and SIMD Vectorization / Memory Block Load and Store",
    lesson="Where a sub-group's elements lie in a row, a block message with a single address moves them all.",
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 1303"),
        Claim("addresses", on=("gpu",), strength="implied", source="G 1303, 2343"),
    ),
    presets={
        "smoke": {"n": (1 << 20, 251 << 12)},
        "default": {"n": {"cpu": 1 << 23, "gpu": fit(1 << 25, bytes_each=8)}},
        "guide": {"n": 1024 * 1024},
    },
    # The guide's sub-groups are of 16 and its work-groups of 32. All lanes of a sub-group must be there for block
    # access: a work-group is a multiple of the sub-group's size.
    axes={"sub_group_size": "device", "work_group_size": (32, 256)},
    requires=("sub_groups",),
)

PER_ITEM = 16  # elements that each work-item copies
VECTOR = 4
BLOCKS = 8  # neighbouring blocks of one element a lane that one operation reads or writes


def copy_vectors_in(lanes):
    """The kernel for sub-groups of ``lanes``: as many as that of blocks, so that a message of both is of as many."""

    @kernel(sub_group_size=lanes)
    def copy_vectors(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        first = i // lanes * lanes * PER_ITEM + i % lanes * VECTOR
        for k in range(0, PER_ITEM, VECTOR):
            vector.store4(y, first + k * lanes, vector.load4(x, first + k * lanes))

    return copy_vectors


def copy_blocks_in(lanes):
    """The kernel for sub-groups of ``lanes``."""

    @kernel(sub_group_size=lanes)
    def copy_blocks(item: kapi.NdItem, x, y):
        number = item.get_group().get_group_id(0) * sub_group.num_groups() + sub_group.group_id()
        first = number * lanes * PER_ITEM
        # what a lane holds of eight blocks is not contiguous: its elements are a sub-group's size apart
        for k in range(0, PER_ITEM, BLOCKS):
            sub_group.block_write8(y, first + k * lanes, sub_group.block_read8(x, first + k * lanes))

    return copy_blocks


@pattern.problem
def integers(rng, n, work_group_size):
    if n % (PER_ITEM * work_group_size):
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {PER_ITEM * work_group_size}")
    return Problem(x=rng.integers(0, 1 << 30, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": p.x}


@pattern.naive
def vector_per_lane(session, p, work_group_size, sub_group_size):
    """Each lane loads and stores vectors of four, at an address of its own."""
    copy_vectors = copy_vectors_in(sub_group_size)
    items = kapi.NdRange((p.n // PER_ITEM,), (work_group_size,))
    return lambda: session.launch(copy_vectors, items, p.x, p.y)


@pattern.optimized
def eight_blocks(session, p, work_group_size, sub_group_size):
    """The sub-group reads eight blocks in a row, then writes them, by one address."""
    copy_blocks = copy_blocks_in(sub_group_size)
    items = kapi.NdRange((p.n // PER_ITEM,), (work_group_size,))
    return lambda: session.launch(copy_blocks, items, p.x, p.y)
