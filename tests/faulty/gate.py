"""A pattern that is measured at once, and one that stops in the middle of its samples while a file is there.

The file's name is in the environment, so that a test decides how long a run takes.
"""

import os
import time
from pathlib import Path

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double

BEFORE_THE_GATE = 20


def declare(name):
    sizes = {"n": 1 << 10}
    presets = {"smoke": sizes, "default": sizes}
    return Pattern(name, guide="none", lesson="Takes as long as told.", presets=presets, odd_sizes={})


def numbers(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))


def expected(p):
    return {"y": p.x + p.x}


def launch(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)


def launch_again(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)


def launch_and_wait(session, p):
    calls = 0

    def sample():
        nonlocal calls
        calls += 1
        gate = Path(os.environ["XEBENCH_TEST_GATE"])
        while calls > BEFORE_THE_GATE and gate.exists():
            time.sleep(0.02)
        launch(session, p)

    return sample


quick, gated = declare("quick"), declare("gated")
for pattern in (quick, gated):
    pattern.problem(numbers)
    pattern.reference(expected)
    pattern.naive(launch)
quick.optimized(launch_again)
gated.optimized(launch_and_wait)
