"""A pattern of which things are claimed that only its code can tell."""

import numpy as np

from numba_sycl import kernel
from xebench import Claim, Pattern, Problem, output
from xebench import kernel_api as kapi

pattern = Pattern("claimed", guide="none", lesson="Adds.", presets={"smoke": {"n": 64}, "default": {"n": 64}})


@kernel
def add_zeros(item: kapi.Item, x, zeros, y):
    i = item.get_id(0)
    y[i] = x[i] + zeros[i]


@kernel
def copy(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i]


@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.random(n, np.float32), zeros=np.zeros(n, np.float32), y=output(n, np.float32))


@pattern.reference
def expected(p):
    return {"y": p.x}


@pattern.naive
def two_loads(session, p):
    session.launch(add_zeros, kapi.Range(p.n), p.x, p.zeros, p.y)


@pattern.optimized(claim=(Claim("messages"), Claim("messages", at_least=3), Claim("spills")))
def one_load(session, p):
    session.launch(copy, kapi.Range(p.n), p.x, p.y)


@pattern.intermediate(claim=Claim("instructions", against="one_load"))
def no_kernel(session, p):
    session.copy(p.y, p.x)
