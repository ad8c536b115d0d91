"""One good pair, and one variant for each way in which a worker can end or not end."""

import ctypes
import os
import signal

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double, double_for_ever

pattern = Pattern(
    name="faults",
    guide="none",
    lesson="However a worker ends, it costs the variant at work, not the run.",
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
def segfaults(session, p):
    ctypes.string_at(0)


@pattern.intermediate
def is_killed(session, p):
    os.kill(os.getpid(), signal.SIGKILL)


@pattern.intermediate
def takes_all_memory(session, p):
    taken = []
    while True:
        taken.append(np.ones(1 << 24))


@pattern.intermediate
def endless_kernel(session, p):
    session.launch(double_for_ever, kapi.Range(1), p.x, p.y)  # on one core


@pattern.intermediate
def closes_what_is_not_its_own(session, p):
    for descriptor in range(3):
        os.close(descriptor)
    session.launch(double, kapi.Range(p.n), p.x, p.y)


@pattern.intermediate
def closes_everything(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)
    session.wait()
    os.closerange(3, 1000)


@pattern.optimized
def good_optimized(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)
