"""An exercise: two kernels with an array between them. Write the same as one kernel."""

import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="exercise",
    lesson="What one kernel writes to memory and the next reads from it can stay in a register of one kernel.",
    claim="faster",
    rtol=1e-6,
    presets={"smoke": {"n": 1 << 16}, "default": {"n": 1 << 22}},
)


@pattern.problem
def data(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), z=output(n, np.float32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    y = 2 * p.x + 1
    return {"z": y * y}


@kernel
def scale(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = np.float32(2) * x[i] + np.float32(1)


@kernel
def square(item: kapi.Item, y, z):
    i = item.get_id(0)
    z[i] = y[i] * y[i]


@pattern.naive
def two_kernels(session, p):
    """The first kernel writes y, the second one reads it."""
    y = session.alloc(p.n, np.float32)

    def sample():
        session.launch(scale, kapi.Range(p.n), p.x, y)
        session.launch(square, kapi.Range(p.n), y, p.z)

    return sample


# Your work: write this kernel, so that it computes what both of the others do, without y.
@kernel
def fused(item: kapi.Item, x, z):
    i = item.get_id(0)
    z[i] = x[i]


@pattern.optimized
def yours(session, p):
    """One kernel computes z from x."""
    session.launch(fused, kapi.Range(p.n), p.x, p.z)
