"""Variants that fork their process: children that stay, and one that comes back into the harness.

Each child writes its number into the file that the environment names.
"""

import os
import subprocess
import time
from pathlib import Path

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double

pattern = Pattern(
    name="forks",
    guide="none",
    lesson="What a pattern starts ends with the command, and measures nothing.",
    presets={"smoke": {"n": 1 << 10}, "default": {"n": 1 << 10}},
)


@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))


@pattern.reference
def expected(p):
    return {"y": p.x + p.x}


def note(pid):
    with Path(os.environ["XEBENCH_TEST_FORKS"]).open("a") as file:
        file.write(f"{pid}\n")


@pattern.naive
def forks_and_waits_for_nobody(session, p):
    if not (pid := os.fork()):
        time.sleep(1000)
    note(pid)
    note(subprocess.Popen(["sleep", "1000"]).pid)
    return lambda: session.launch(double, kapi.Range(p.n), p.x, p.y)


@pattern.optimized
def comes_back_twice(session, p):
    calls = 0

    def sample():
        nonlocal calls
        calls += 1
        session.launch(double, kapi.Range(p.n), p.x, p.y)
        if calls == 12:
            session.wait()
            if pid := os.fork():
                note(pid)

    return sample
