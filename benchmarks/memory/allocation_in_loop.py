"""Declare a temporary once, not in every iteration of a loop: a buffer, or device memory."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="allocation_in_loop",
    catalogue=("E66",),
    guide="Host/Device Memory, Buffer and USM / Avoiding Declaring Buffers in a Loop",
    lesson="A buffer declared in the loop is allocated, copied both ways and freed in every step; hoist it.",
    presets={
        "smoke": {"n": 25, "steps": 10},
        "default": {"n": 25, "steps": 100},
        # the guide's 100,000 steps are alike: a sample of them submits half a million commands and tells no more
        "guide": {"n": 25, "steps": 1000},
    },
    own_sizes="1,000 of the guide's 100,000 steps",
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
    return Problem(a=a, b=b, first=output(n, np.int32, host=True), second=output(n, np.int32, host=True))


@pattern.reference
def expected(p):
    # each step takes the smaller down and the larger up by one
    change = np.where(p.a < p.b, -p.steps, p.steps)
    return {"first": p.a + change, "second": p.b - change}


def begin(p):
    p.first[:] = p.host.a
    p.second[:] = p.host.b


def step(session, p, *buffers):
    session.launch(part, kapi.Range(p.n), *map(session.accessor, buffers))


@pattern.naive
def buffer_every_step(session, p):
    """A buffer over a host array in each step: its scope ends with a wait, a copy and a release."""
    begin(p)
    host = np.zeros(p.n, np.int32)
    with session.buffer(p.first) as a, session.buffer(p.second) as b:
        for _ in range(p.steps):
            with session.buffer(host) as sign:
                step(session, p, a, b, sign)


@pattern.optimized(claim=Claim("faster", source="G 7254 to 7313"))
def buffer_once(session, p):
    """The buffer is declared before the loop, which need not wait any more."""
    begin(p)
    host = np.zeros(p.n, np.int32)
    with session.buffer(p.first) as a, session.buffer(p.second) as b, session.buffer(host) as sign:
        for _ in range(p.steps):
            step(session, p, a, b, sign)


def on_device_memory(session, p, steps):
    """Copy both arrays in, run all steps, copy both back."""
    begin(p)
    pairs = [(session.alloc(p.n, np.int32), host) for host in (p.first, p.second)]
    for array, host in pairs:
        session.copy(array, host)
    a, b = (array for array, _ in pairs)
    steps(lambda sign: session.launch(part, kapi.Range(p.n), a, b, sign))
    for array, host in pairs:
        session.copy(host, array)
    session.wait()


@pattern.intermediate
def allocate_every_step(session, p):
    """Device memory in each step: no copies, but freeing it still waits for the kernel."""

    def steps(launch):
        for _ in range(p.steps):
            sign = session.alloc(p.n, np.int32)
            launch(sign)
            session.wait()
            del sign

    on_device_memory(session, p, steps)


@pattern.optimized(claim=Claim("faster", against="allocate_every_step"))
def allocate_once(session, p):
    """The same memory for all steps."""

    def steps(launch):
        sign = session.alloc(p.n, np.int32)
        for _ in range(p.steps):
            launch(sign)

    on_device_memory(session, p, steps)
