"""Two variants whose lengths are known functions of their steps; the study gives one of them 3 % more in a version."""

import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

GROUP = 64
GROUPS = 64
#: Steps of each variant; the study writes a new version of the first line.
LONGER_STEPS = 1_000
EQUAL_STEPS = 1_000

planted = Pattern(
    "planted",
    guide="none",
    lesson="A chain of dependent steps: no step can be saved, so its time is proportional to their number.",
    presets={"smoke": {"n": GROUP * GROUPS}, "default": {"n": GROUP * GROUPS}},
)


@kernel
def chain(item: kapi.NdItem, x, y, steps):
    i = item.get_global_id(0)
    a = x[i]
    for _ in range(steps):
        a = a * x[i] + x[i]
    # the chain converges from 0.5 to 1: it is never negative, but the compiler has no proof of that
    y[i] = x[i] if a >= np.float32(0) else a


@planted.problem
def halves(rng, n):
    return Problem(x=np.full(n, 0.5, np.float32), y=output(n, np.float32))


@planted.reference
def expected(p):
    return {"y": p.x}


@planted.naive
def longer(session, p):
    session.launch(chain, kapi.NdRange((p.n,), (GROUP,)), p.x, p.y, np.int64(LONGER_STEPS))


@planted.optimized
def equal(session, p):
    session.launch(chain, kapi.NdRange((p.n,), (GROUP,)), p.x, p.y, np.int64(EQUAL_STEPS))
