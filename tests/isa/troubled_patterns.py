"""Patterns that end or stop the process which runs them, with a sound one at the end."""

import os
import signal
import time

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from ..faulty.kernels import ones


def declare(name):
    pattern = Pattern(name, guide="none", lesson="Fails.", presets={"smoke": {"n": 64}, "default": {"n": 64}})
    pattern.problem(lambda rng, n: Problem(y=output(n, np.float32)))
    pattern.reference(lambda p: {"y": np.ones(p.n)})
    return pattern


crashes = declare("crashes")
hangs = declare("hangs")
raises = declare("raises")
exits = declare("exits")
sound = declare("sound")


@crashes.naive
def end_of_process(session, p):
    session.launch(ones, kapi.Range(p.n), p.y)
    session.wait()
    os.kill(os.getpid(), signal.SIGSEGV)


@crashes.optimized
def after_the_crash(session, p):
    session.launch(ones, kapi.Range(p.n), p.y)


@hangs.naive
def endless(session, p):
    time.sleep(1000)


@raises.naive
def exception(session, p):
    raise ValueError("on purpose")


@exits.naive
def end_of_python(session, p):
    raise SystemExit(0)


@sound.naive
def write_ones(session, p):
    session.launch(ones, kapi.Range(p.n), p.y)


@sound.optimized
def prepared(session, p):
    return lambda: session.launch(ones, kapi.Range(p.n), p.y)
