"""Pairs of equal kernels, compiled and built separately: they differ only in their place in memory."""

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
