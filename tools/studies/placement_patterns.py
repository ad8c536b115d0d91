"""Pairs of equal kernels, and of equal programs with own scratch: they differ only in their place in memory."""

import dpnp
import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

GROUP = 256
#: Pairs of each pattern: the axis is a number that nothing depends on.
PAIRS = tuple(range(25))


@kernel
def first(item: kapi.NdItem, x, y, trips):
    i = item.get_global_id(0)
    a = x[i]
    for _ in range(trips):
        a = a * np.float32(0.5)
    y[i] = a


@kernel
def second(item: kapi.NdItem, x, y, trips):
    i = item.get_global_id(0)
    a = x[i]
    for _ in range(trips):
        a = a * np.float32(0.5)
    y[i] = a


def declare(name, lesson, n, trips, metric="device"):
    pattern = Pattern(
        name,
        guide="none",
        lesson=lesson,
        claim="same",
        metric=metric,
        presets={"smoke": {"n": n, "trips": trips}, "default": {"n": n, "trips": trips}},
        axes={"pair": PAIRS},
    )

    @pattern.problem
    def numbers(rng, n, trips):
        return Problem(x=rng.random(n).astype(np.float32), y=output(n, np.float32), bytes_moved=8 * n)

    @pattern.reference
    def halved(p):
        return {"y": p.x * np.float32(0.5**p.trips)}

    @pattern.naive
    def launch_first(session, p):
        session.launch(first, kapi.NdRange((p.n,), (GROUP,)), p.x, p.y, p.trips)

    # a number of another type, so that the answer is not that both are the same program
    @pattern.optimized
    def launch_second(session, p):
        session.launch(second, kapi.NdRange((p.n,), (GROUP,)), p.x, p.y, np.int64(p.trips))

    return pattern


equal_short = declare("equal_short", "A kernel of microseconds, timed in batches.", 1 << 12, 2)
equal_middle = declare("equal_middle", "Data that fits into caches.", 1 << 18, 8)
equal_long = declare("equal_long", "Data that goes through the memory.", 1 << 23, 1)
equal_span = declare("equal_span", "From submission to end.", 1 << 18, 8, metric="span")
equal_wall = declare("equal_wall", "On the host.", 1 << 18, 8, metric="wall")


@kernel
def relax(item: kapi.Item, a, b):
    i, j = item.get_id(0), item.get_id(1)
    n = a.shape[0]
    if i > 0 and j > 0 and i < n - 1 and j < n - 1:
        b[i, j] = np.float32(0.25) * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    else:
        b[i, j] = a[i, j]


STEPS = 33


def relaxed(u):
    for _ in range(STEPS):
        w = u.copy()
        w[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = w
    return u


def on_device(session, p):
    """Steps between two arrays of scratch that this variant allocates."""
    scratch = [session.alloc((p.n, p.n), np.float32) for _ in range(2)]

    def sample():
        a = p.u
        for k in range(STEPS):
            b = p.v if k == STEPS - 1 else scratch[k % 2]
            session.launch(relax, kapi.Range(p.n, p.n), a, b)
            a = b

    return sample


def by_dpnp(session, p):
    """The same in dpnp's memory."""
    u, v = dpnp.asarray(p.u), dpnp.asarray(p.v)
    scratch = dpnp.empty_like(u)

    def sample():
        dpnp.multiply(u, u, out=scratch)
        dpnp.add(scratch, u, out=v)

    return sample


def on_host(session, p):
    """The same in numpy's memory, and a copy to the device."""
    scratch = np.empty((p.n, p.n), np.float32)

    def sample():
        np.multiply(p.host.u, p.host.u, out=scratch)
        np.add(scratch, p.host.u, out=scratch)
        session.copy(p.v, scratch)

    return sample


def declare_scratch(name, prepare, reference, n, metric):
    """Two variants of one body with scratch of their own."""
    sizes = {"n": n}
    lesson = "Both are the same."
    pattern = Pattern(
        name,
        guide="none",
        lesson=lesson,
        claim="same",
        metric=metric,
        rtol=1e-3,
        presets={"smoke": sizes, "default": sizes},
        axes={"pair": PAIRS},
    )
    pattern.problem(lambda rng, n: Problem(u=rng.random((n, n), dtype=np.float32), v=output((n, n), np.float32)))
    pattern.reference(lambda p: {"v": reference(p.u.astype(float))})

    @pattern.naive
    def one(session, p):
        return prepare(session, p)

    @pattern.optimized
    def other(session, p):
        return prepare(session, p)

    return pattern


scratch_wall = declare_scratch("scratch_wall", on_device, relaxed, 256, "wall")
scratch_device = declare_scratch("scratch_device", on_device, relaxed, 192, "span")
scratch_dpnp = declare_scratch("scratch_dpnp", by_dpnp, lambda u: u * u + u, 512, "wall")
scratch_host = declare_scratch("scratch_host", on_host, lambda u: u * u + u, 384, "wall")
