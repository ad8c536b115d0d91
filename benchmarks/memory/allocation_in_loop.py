"""Allocate a temporary once, not in every iteration of a loop."""

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from harness import Pattern, Problem, inout

pattern = Pattern(
    name="allocation_in_loop",
    catalogue=("E66",),
    guide="Memory / Avoiding Declaring Buffers in a Loop",
    lesson="Device memory that a loop needs in every iteration is allocated and freed every time unless it is hoisted.",
    claim="faster",
    presets={
        "smoke": {"n": 25, "steps": 20},
        "default": {"n": 25, "steps": 500},
        "guide": {"n": 25, "steps": 100_000},
    },
    metric="wall",
)


@dpex.kernel(error_model="numpy")
def difference(item: kapi.Item, a, b, temporary):
    i = item.get_id(0)
    temporary[i] = b[i] - a[i]


@dpex.kernel(error_model="numpy")
def update(item: kapi.Item, a, temporary):
    i = item.get_id(0)
    a[i] = a[i] + temporary[i] + np.int32(1)


@pattern.problem
def steps_of_two_kernels(rng, n, steps):
    a = rng.integers(0, 100, n, dtype=np.int32)
    return Problem(a=inout(a), b=rng.integers(0, 100, n, dtype=np.int32))


@pattern.reference
def expected(p):
    # each step makes a = b + 1
    return {"a": p.b + np.int32(1)}


def step(session, p, temporary):
    session.launch(difference, kapi.Range(p.n), p.a, p.b, temporary)
    session.launch(update, kapi.Range(p.n), p.a, temporary)


@pattern.naive
def allocate_every_step(session, p):
    """The temporary lives for one step, as a buffer declared inside the loop does."""
    for _ in range(p.steps):
        temporary = session.alloc(p.n, np.int32)
        step(session, p, temporary)
        session.wait()


@pattern.optimized
def allocate_once(session, p):
    """The temporary is hoisted out of the loop."""
    temporary = session.alloc(p.n, np.int32)
    for _ in range(p.steps):
        step(session, p, temporary)
        session.wait()
