"""Allocate a temporary once, not in every iteration of a loop."""

import numpy as np

from xebench import Claim, Pattern, Problem, inout, kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="allocation_in_loop",
    catalogue=("E66",),
    guide="Host/Device Memory, Buffer and USM / Avoiding Declaring Buffers in a Loop",
    lesson="A temporary declared in the loop is allocated, copied both ways and freed in every step; hoist it.",
    presets={
        "smoke": {"n": 25, "steps": 10},
        "default": {"n": 25, "steps": 100},
        # the guide's 100,000 steps are alike: a sample of them submits half a million commands and tells no more
        "guide": {"n": 25, "steps": 1000},
    },
    own_sizes="1,000 of the guide's 100,000 steps",
    stand_in="no SYCL buffer is declared: each step allocates, copies and frees, which costs more than a buffer does",
    metric="wall",
)


@kernel
def part(item: kapi.Item, a, b, sign):
    i = item.get_id(0)
    sign[i] = np.int32(-1) if a[i] < b[i] else np.int32(1)
    a[i] += sign[i]
    b[i] -= sign[i]


@pattern.problem
def two_arrays(rng, n, steps):
    a, b = rng.integers(0, 100, (2, n), dtype=np.int32)
    return Problem(a=inout(a), b=inout(b))


@pattern.reference
def expected(p):
    # each step takes the smaller down and the larger up by one
    change = np.where(p.a < p.b, -p.steps, p.steps)
    return {"a": p.a + change, "b": p.b - change}


@pattern.naive
def buffer_every_step(session, p):
    """What a buffer over a host array does in each scope: allocate, copy in, run, copy back, free."""
    host = np.zeros(p.n, np.int32)
    for _ in range(p.steps):
        sign = session.alloc(p.n, np.int32)
        session.copy(sign, host)
        session.launch(part, kapi.Range(p.n), p.a, p.b, sign)
        session.copy(host, sign)
        session.wait()
        del sign


@pattern.intermediate(claim=Claim("faster", strength="implied", source="G 7256"))
def allocate_every_step(session, p):
    """Device memory without the copies: freeing it still waits for the kernel."""
    for _ in range(p.steps):
        sign = session.alloc(p.n, np.int32)
        session.launch(part, kapi.Range(p.n), p.a, p.b, sign)
        session.wait()
        del sign


@pattern.optimized(
    claim=(
        Claim("faster", source="G 7254 to 7313"),
        Claim("faster", against="allocate_every_step", strength="implied", source="G 7254"),
    )
)
def allocate_once(session, p):
    """The temporary is hoisted out of the loop, which need not wait any more."""
    sign = session.alloc(p.n, np.int32)
    for _ in range(p.steps):
        session.launch(part, kapi.Range(p.n), p.a, p.b, sign)
    session.wait()
