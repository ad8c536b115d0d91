"""Patterns whose variants end as they are claimed to, in a process with a variable of the pattern's own."""

import os

import numpy as np

from xebench import Claim, Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import scale

sizes = {"n": 1 << 10}
pattern = Pattern(
    name="claimed_ends",
    guide="none",
    lesson="What must fail, fails.",
    presets={"smoke": sizes, "default": sizes},
    state="cold",
    environment={"XEBENCH_TEST_VARIABLE": "set"},
)

FAR_TOO_WIDE = 1 << 24


@pattern.problem
def ones(rng, n):
    return Problem(x=np.ones(n, np.float32), y=output(n, np.float32))


@pattern.reference
def expected(p):
    assert os.environ["XEBENCH_TEST_VARIABLE"] == "set"
    return {"y": 2 * p.x}


def launch(session, p, factor, group=64):
    session.launch(scale, kapi.NdRange((max(p.n, group),), (group,)), p.x, p.y, factor)


@pattern.naive
def twice(session, p):
    launch(session, p, 2)
    launch(session, p, 2)


@pattern.optimized(claim=Claim("faster", on=("gpu",)))
def once(session, p):
    launch(session, p, 2)


@pattern.intermediate(claim=Claim("same", against="once", within=0.99))
def once_more(session, p):
    launch(session, p, 2)


@pattern.antipattern(claim=Claim("wrong", source="G 1"))
def three_times(session, p):
    launch(session, p, 3)


@pattern.antipattern(claim=Claim("error", kind="work-group of 16777216", source="G 2"))
def too_wide(session, p):
    launch(session, p, 2, FAR_TOO_WIDE)
