"""One good pair, and one variant each that aborts, hangs, and writes one wrong element."""

import os
import time

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double, double_all_but_one

pattern = Pattern(
    name="faulty_variants",
    guide="none",
    lesson="What goes wrong in one variant costs that variant, not the run.",
    presets={"smoke": {"n": 1 << 10}, "default": {"n": 1 << 10}},
)


@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))


@pattern.reference
def expected(p):
    return {"y": p.x + p.x}


@pattern.naive
def good_naive(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)


@pattern.intermediate
def aborts(session, p):
    os.abort()


@pattern.intermediate
def hangs(session, p):
    time.sleep(3600)


@pattern.intermediate
def one_wrong_element(session, p):
    session.launch(double_all_but_one, kapi.Range(p.n), p.x, p.y)


@pattern.optimized
def good_optimized(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)
