"""Two variants whose driver lies about times: a clock that goes backwards, and times of the command before."""

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double

SECOND_NS = 10**9

pattern = Pattern(
    name="lying_driver",
    guide="none",
    lesson="Times that cannot be true are shown, and count for nothing.",
    presets={"smoke": {"n": 1 << 10}, "default": {"n": 1 << 10}},
)


class Driver:
    """What the driver says of the next command."""

    def __init__(self):
        self.mood = "honest"
        self.told = (1, 2, 3)
        self.back_ns = 0

    def times(self, event):
        submit, start, end = event.times()
        if self.mood == "stale":
            return self.told
        if self.mood == "backwards":
            self.back_ns += SECOND_NS
            submit, start, end = (time - self.back_ns for time in (submit, start, end))
        self.told = submit, start, end
        return self.told


driver = Driver()


class LyingEvent:
    """An event as this driver tells of it."""

    def __init__(self, event):
        self.event = event
        self.wait = event.wait

    def times(self):
        return driver.times(self.event)


def lie(recorder):
    """Have the driver asked for all events: of the session itself, since code of xebench must stay as it is."""
    add = type(recorder).add
    recorder.add = lambda kind, name, queue, event, *rest: add(recorder, kind, name, queue, LyingEvent(event), *rest)


@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))


@pattern.reference
def expected(p):
    return {"y": p.x + p.x}


def launch(session, p, mood):
    driver.mood = mood
    lie(session._recorder)
    session.launch(double, kapi.Range(p.n), p.x, p.y)


@pattern.naive
def honest(session, p):
    launch(session, p, "honest")


@pattern.intermediate
def backwards(session, p):
    launch(session, p, "backwards")


@pattern.optimized
def stale(session, p):
    launch(session, p, "stale")
