"""Variants that need variables of their own, and tell whether the process has them."""

import os

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double

SIZES = {"n": 1 << 10}
PRESETS = {"smoke": SIZES, "default": SIZES}


def declare(name):
    pattern = Pattern(
        name, guide="none", lesson="Read what is set.", presets=PRESETS, environment={"SHARED_ONE": "yes"}
    )

    @pattern.problem
    def numbers(rng, n):
        return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))

    @pattern.reference
    def expected(p):
        return {"y": p.x + p.x}

    return pattern


def doubled(session, p, colour):
    """Double, in a process with this colour."""
    if os.environ.get("OWN_COLOUR") != colour:
        raise ValueError(f"the colour is {os.environ.get('OWN_COLOUR')}, not {colour}")
    return lambda: session.launch(double, kapi.Range(p.n), p.x, p.y)


coloured = declare("coloured")


@coloured.naive
def no_colour(session, p):
    return doubled(session, p, None)


@coloured.optimized(environment={"OWN_COLOUR": "red"})
def red(session, p):
    return doubled(session, p, "red")


@coloured.optimized(environment={"OWN_COLOUR": "blue"})
def blue(session, p):
    return doubled(session, p, "blue")


@coloured.optimized(environment={"OWN_COLOUR": "blue"})
def blue_again(session, p):
    return doubled(session, p, "blue")


ends_badly = declare("ends_badly")


@ends_badly.naive
def here(session, p):
    return doubled(session, p, None)


@ends_badly.optimized(environment={"OWN_COLOUR": "black"})
def kills_itself(session, p):
    sample = doubled(session, p, "black")
    calls = []

    def dying():
        calls.append(sample())
        if len(calls) == 5:
            os.abort()

    return dying


@ends_badly.optimized(environment={"OWN_COLOUR": "black"})
def black_too(session, p):
    return doubled(session, p, "black")


@ends_badly.optimized(environment={"OWN_COLOUR": "white"})
def wrong_there(session, p):
    return lambda: session.launch(double, kapi.Range(p.n // 2), p.x, p.y)
