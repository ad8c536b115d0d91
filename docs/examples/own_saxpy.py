"""Work-items that handle neighbouring elements, against work-items that each handle a block of their own."""

import numpy as np

from xebench import Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="own_saxpy",
    guide="Sub-Groups and SIMD Vectorization / Vectorization and Memory Access",
    lesson="Neighbouring work-items should touch neighbouring elements.",
    catalogue=("E13",),
    claim={"gpu": "faster"},
    presets={"smoke": {"n": 1 << 14}, "default": {"n": 1 << 22}},
    axes={"work_group_size": (64,)},
)

BLOCK = 16


@kernel
def blocked(item: kapi.NdItem, a, x, y):
    first = item.get_global_id(0) * BLOCK
    for k in range(first, min(first + BLOCK, x.shape[0])):
        y[k] = a * x[k]


@kernel
def interleaved(item: kapi.NdItem, a, x, y):
    for k in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
        y[k] = a * x[k]


@pattern.problem
def scaled_vector(rng, n):
    return Problem(
        a=np.float32(2.5),
        x=rng.random(n, dtype=np.float32),
        y=output(n, np.float32),
        bytes_moved=8 * n,
        operations=n,
    )


@pattern.reference
def expected(p):
    return {"y": p.a * p.x}


def work_items(p, work_group_size):
    """One for every block, and as many more as make the last work-group whole."""
    groups = ceil_div(p.n, BLOCK * work_group_size)
    return kapi.NdRange((groups * work_group_size,), (work_group_size,))


@pattern.naive
def block_per_item(session, p, work_group_size):
    """Each work-item scales sixteen elements in a row."""
    session.launch(blocked, work_items(p, work_group_size), p.a, p.x, p.y)


@pattern.optimized
def neighbours_together(session, p, work_group_size):
    """In each step, neighbouring work-items scale neighbouring elements."""
    session.launch(interleaved, work_items(p, work_group_size), p.a, p.x, p.y)
