"""Two variants whose driver lies about times: a clock that goes backwards, and times of the command before."""

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi
from xebench.dpex import DeviceEvent

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
        self.true_times = getattr(DeviceEvent, "times", None)  # nothing where the declaration alone is read

    def times(self, event):
        submit, start, end = self.true_times(event)
        if self.mood == "stale":
            return self.told
        if self.mood == "backwards":
            self.back_ns += SECOND_NS
            submit, start, end = (time - self.back_ns for time in (submit, start, end))
        self.told = submit, start, end
        return self.told


driver = Driver()


def lying_times(event):
    return driver.times(event)


@pattern.problem
def numbers(rng, n):
    DeviceEvent.times = lying_times
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))


@pattern.reference
def expected(p):
    return {"y": p.x + p.x}


def launch(session, p, mood):
    driver.mood = mood
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
