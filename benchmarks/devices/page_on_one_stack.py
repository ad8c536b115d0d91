"""Counters that fit a page lie on one stack of a GPU, whichever stack counts: what the other stack pays."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="page_on_one_stack",
    catalogue=("one_stack_residency",),
    guide="Multiple Stacks / Implicit Scaling, Memory Coloring",
    lesson="An allocation of a page or less is on the first stack alone: work of the other one has to cross over.",
    presets={
        "smoke": {"n": (512, 514), "rounds": 4},
        "default": {"n": 1 << 10, "rounds": {"cpu": 64, "gpu": 1 << 12}},
        "guide": {"n": 1 << 10, "rounds": 1 << 12},
    },
    own_sizes="the guide names no size",
    axes={"work_group_size": (64,)},
    requires=("usm_device",),
    short_launches="the counters must fit a page",
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device of its own
)

APART = 1 << 22  # elements between the counters of both halves: more than pages have, which a driver may choose


@kernel
def count(item: kapi.NdItem, start, counts, half, jump, rounds):
    """Each work-item counts in a counter of its own, and each addition is atomic (G 20844)."""
    i = item.get_global_id(0)
    if i < 2 * half:
        k = i if i < half else i - half + jump
        counter = kapi.AtomicRef(counts, index=k)
        counter.store(start[i])
        for _ in range(rounds):
            counter.fetch_add(np.int32(1))


@pattern.problem
def counters(rng, n, rounds):
    if n % 2:
        raise ValueError(f"n={n}: there are two halves: give a multiple of 2")
    return Problem(start=rng.integers(0, 100, n, dtype=np.int32), counts=output(n, np.int32))


@pattern.reference
def expected(p):
    return {"counts": p.start + np.int32(p.rounds)}


def counting(session, p, work_group_size, jump):
    """A sample: the driver gives the first half of the work-groups to the first stack, the others to the second.

    Args:
        jump: where the counters of the second half begin; the allocation ends as far behind that.
    """
    half, size = p.n // 2, work_group_size
    counts = session.alloc(2 * jump, np.int32)
    space = kapi.NdRange((ceil_div(p.n, size) * size,), (size,))

    def sample():
        session.launch(count, space, p.start, counts, half, jump, p.rounds)
        session.copy(p.counts[:half], counts[:half])
        session.copy(p.counts[half:], counts[jump : jump + half])

    return sample


@pattern.naive
def one_page(session, p, work_group_size):
    """Counters side by side, in at most 4 KiB: all of them are on the first stack."""
    return counting(session, p, work_group_size, p.n // 2)


@pattern.optimized(claim=Claim("faster", on=("gpu",), requires=("stacks=2",), strength="implied", source="G 17817"))
def page_on_each_stack(session, p, work_group_size):
    """A large allocation, whose halves are on a stack each: the second half of the counters is in its second half."""
    return counting(session, p, work_group_size, APART)
