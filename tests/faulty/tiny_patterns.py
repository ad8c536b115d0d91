"""Patterns that are too short to be timed singly."""

import numpy as np

from xebench import Pattern, Problem, inout, output
from xebench import kernel_api as kapi

from .kernels import count


def declare(name):
    presets = {"smoke": {"n": 64}, "default": {"n": 64}}
    return Pattern(name, guide="none", lesson="Short.", presets=presets, metric="wall")


# nothing on the device at all: a host interval of about a microsecond
host_only = declare("host_only")


@host_only.problem
def filled_on_the_host(rng, n):
    return Problem(y=output(n, np.int32, host=True))


@host_only.reference
def sevens(p):
    return {"y": np.full(p.n, 7)}


@host_only.naive
def fill(session, p):
    p.y[:] = 7


@host_only.optimized
def fill_from_the_end(session, p):
    p.y[::-1] = 7


# the same, but what it writes must be put back before each execution
counted = declare("counted")


@counted.problem
def zeros(rng, n):
    return Problem(y=inout(np.zeros(n, np.int32)))


@counted.reference
def ones(p):
    return {"y": p.y + 1}


@counted.naive
def count_up(session, p):
    session.launch(count, kapi.Range(p.n), p.y)


@counted.optimized
def count_up_too(session, p):
    session.launch(count, kapi.Range(p.n), p.y)
