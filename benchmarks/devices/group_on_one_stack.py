"""A kernel of one work-group runs on the first stack of a GPU: what it reads from memory of the second one is far."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="group_on_one_stack",
    catalogue=("one_stack_residency",),
    guide="Multiple Stacks / Implicit Scaling, Static Partitioning",
    lesson="A single work-group is on the first stack: the second half of an array crosses over, the first does not.",
    presets={
        "smoke": {"n": (1 << 12, 4094)},
        "default": {"n": {"cpu": 1 << 18, "gpu": 1 << 24}},
        "guide": {"n": 1 << 24},
    },
    own_sizes="the guide names no size",
    axes={"work_group_size": (256,)},
    state="cold",  # what crossed over once may stay in the first stack's cache
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device of its own
    short_launches="one work-group has all of the work, and takes as long as it takes",
)


@kernel
def add_up(item: kapi.NdItem, x, sums, first, count):
    i = item.get_local_id(0)
    total = np.int32(0)
    for k in range(first + i, first + count, item.get_local_range(0)):
        total += x[k]
    sums[i] = total


@pattern.problem
def twice_the_same(rng, n, work_group_size):
    """Both halves of the array hold the same numbers, so that either has the sums."""
    if n % 2:
        raise ValueError(f"n={n}: there are two halves: give a multiple of 2")
    return Problem(x=np.tile(rng.integers(0, 10, n // 2, dtype=np.int32), 2), sums=output(work_group_size, np.int32))


@pattern.reference
def expected(p):
    padded = np.zeros(ceil_div(p.n // 2, p.work_group_size) * p.work_group_size, np.int32)
    padded[: p.n // 2] = p.x[: p.n // 2]
    return {"sums": padded.reshape(-1, p.work_group_size).sum(axis=0, dtype=np.int32)}


def summing(session, p, work_group_size, first):
    """One work-group adds up half of the array, from an element on."""
    space = kapi.NdRange((work_group_size,), (work_group_size,))
    session.launch(add_up, space, p.x, p.sums, first, p.n // 2)


@pattern.naive
def second_half(session, p, work_group_size):
    """The half that is on the second stack."""
    summing(session, p, work_group_size, p.n // 2)


@pattern.optimized(claim=Claim("faster", on=("gpu",), requires=("stacks=2",), strength="implied", source="G 17894"))
def first_half(session, p, work_group_size):
    """The half that is on the first stack, as the work-group is."""
    summing(session, p, work_group_size, 0)
