"""Keep buffers in scope while kernels need their data: the end of a scope copies them to the host."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="buffer_scopes",
    catalogue=("E67",),
    guide="Host/Device Memory, Buffer and USM / Buffer Accessor Modes",
    lesson="Buffers of one block stay on the device between its kernels; blocks of their own copy them out and in.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "rounds": 2},
        # the more bytes are copied, the more each block costs
        "default": {"n": ({"cpu": 1 << 17, "gpu": fit(1 << 20, per_lane=4)}, 1 << 13, 100), "rounds": 10},
        "guide": {"n": 100, "rounds": 100},
    },
    metric="wall",
)

# In C++ blocks cost less: 1.9x on a CPU device where Python has 2.5x (results/studies/beside-cpp.md).
# The section also has a kernel that captures its inputs by value, which each launch copies (G 7584): arguments of ours
# are numbers and arrays.


@kernel
def begin(item: kapi.Item, a, b, c):
    i = item.get_id(0)
    a[i] = np.int32(11)
    b[i] = np.int32(22)
    c[i] = np.int32(0)


@kernel
def add(item: kapi.Item, a, b, c, offset):
    i = item.get_id(0)
    c[i] += a[i] + b[i] + offset


@pattern.problem
def three_arrays(rng, n, rounds):
    return Problem(
        offset=int(rng.integers(1, 100)),
        a=output(n, np.int32, host=True),
        b=output(n, np.int32, host=True),
        c=output(n, np.int32, host=True),
        bytes_moved=4 * n * (3 + 4 * rounds),
    )


@pattern.reference
def expected(p):
    whole = np.ones(p.n, np.int32)
    return {"a": 11 * whole, "b": 22 * whole, "c": p.rounds * (33 + p.offset) * whole}


def kernel_1(session, p, *buffers):
    session.launch(begin, kapi.Range(p.n), *[session.accessor(each, "write", no_init=True) for each in buffers])


def kernel_2(session, p, a, b, c, mode="read"):
    read = session.accessor(a, mode), session.accessor(b, mode)
    session.launch(add, kapi.Range(p.n), *read, session.accessor(c), np.int32(p.offset))


def block_for_each(session, p, mode):
    with session.buffer(p.a) as a, session.buffer(p.b) as b, session.buffer(p.c) as c:
        kernel_1(session, p, a, b, c)
    for _ in range(p.rounds):
        with session.buffer(p.a) as a, session.buffer(p.b) as b, session.buffer(p.c) as c:
            kernel_2(session, p, a, b, c, mode)


@pattern.naive
def block_for_each_kernel(session, p):
    """Each kernel has buffers of its own over the same arrays, and its inputs are read-only."""
    block_for_each(session, p, "read")


# "the memory associated with A and B is copied from the device to the host at the end"
@pattern.antipattern(claim=Claim("slower", on=("gpu",), strength="implied", source="G 7382"))
def inputs_declared_as_written(session, p):
    """The same blocks, and inputs that could be written: they are copied back as well."""
    block_for_each(session, p, "read_write")


@pattern.optimized(claim=Claim("faster", source="G 7455, 7518"))
def one_block(session, p):
    """Buffers are made once, and live until the last kernel."""
    with session.buffer(p.a) as a, session.buffer(p.b) as b, session.buffer(p.c) as c:
        kernel_1(session, p, a, b, c)
        for _ in range(p.rounds):
            kernel_2(session, p, a, b, c)
