"""Do not tune the size of work-groups whose work-items have nothing to do with one another."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="work_group_size_copy",
    catalogue=("E45",),
    guide="Kernels / Considerations for Selecting Work-Group Size",
    lesson="Without barriers and SLM a work-group's size hardly matters; on some GPUs two sub-groups are the least.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 21, "gpu": fit(1 << 25, bytes_each=8)}},
        "guide": {"n": 32 << 20},  # of the guide's published program
    },
    axes={"sub_group_size": "device"},  # the guide's is 16: work-groups of 16 to 256
    requires=("sub_groups",),
    state="cold",  # the guide flushes the caches between its runs
)


@kernel(sub_group_size="sub_group_size")
def copy_one(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = x[i]


@pattern.problem
def integers(rng, n):
    return Problem(x=rng.integers(0, 1 << 30, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": p.x}


def in_groups_of(sub_groups, session, p, lanes):
    size = sub_groups * lanes
    session.launch(copy_one, kapi.NdRange((ceil_div(p.n, size) * size,), (size,)), p.x, p.y)


def like_two():
    return Claim("same", against="two_sub_groups", on=("gpu",), source="G 3991, 4044")


@pattern.naive
def one_sub_group(session, p, sub_group_size):
    """A work-group for each sub-group."""
    in_groups_of(1, session, p, sub_group_size)


# "Some accelerators" schedule two sub-groups at a time, says the guide, and names none: of a GPU at hand, nothing.
@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="ours", source="G 4062"))
def two_sub_groups(session, p, sub_group_size):
    """Two sub-groups."""
    in_groups_of(2, session, p, sub_group_size)


@pattern.intermediate(claim=like_two())
def four_sub_groups(session, p, sub_group_size):
    """Four sub-groups."""
    in_groups_of(4, session, p, sub_group_size)


@pattern.intermediate(claim=like_two())
def eight_sub_groups(session, p, sub_group_size):
    """Eight sub-groups."""
    in_groups_of(8, session, p, sub_group_size)


@pattern.optimized(claim=like_two())
def sixteen_sub_groups(session, p, sub_group_size):
    """Sixteen sub-groups: 256 work-items in the guide."""
    in_groups_of(16, session, p, sub_group_size)
