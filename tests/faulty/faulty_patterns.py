"""Patterns whose own code fails: in the problem, in the reference, and in the middle of sampling."""

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import local, ones


def declare(name):
    return Pattern(name, guide="none", lesson="Fails.", presets={"smoke": {"n": 64}, "default": {"n": 64}})


def write_ones(session, p):
    session.launch(ones, kapi.Range(p.n), p.y)


def array_of_ones(rng, n):
    return Problem(y=output(n, np.float32))


def expect_ones(p):
    return {"y": np.ones(p.n)}


broken_problem = declare("broken_problem")
broken_problem.naive(write_ones)
broken_problem.reference(expect_ones)


@broken_problem.problem
def no_such_size(rng, n):
    return {}["missing"]


broken_reference = declare("broken_reference")
broken_reference.naive(write_ones)
broken_reference.problem(array_of_ones)


@broken_reference.reference
def another_output(p):
    return {"z": np.ones(p.n)}


too_large = declare("too_large")
too_large.naive(write_ones)
too_large.reference(expect_ones)


@too_large.problem
def petabyte(rng, n):
    return Problem(y=output(1 << 48, np.float32))


fails_later = declare("fails_later")
fails_later.problem(array_of_ones)
fails_later.reference(expect_ones)
fails_later.naive(write_ones)


@fails_later.optimized
def fails_at_the_fifth_call(session, p):
    calls = iter(range(4))

    def sample():
        next(calls)
        write_ones(session, p)

    return sample


lacks = declare("lacks")
lacks.problem(array_of_ones)
lacks.reference(expect_ones)
lacks.naive(write_ones)


@lacks.optimized(requires=("level_zero",))
def needs_level_zero(session, p):
    write_ones(session, p)


@lacks.intermediate
def too_much_local_memory(session, p):
    session.launch(local, kapi.NdRange((p.n,), (p.n,)), p.y, kapi.LocalAccessor(1 << 30, np.float32))
