"""STREAM triad on the stacks of one GPU: a queue for each stack, and its part of the arrays in its own memory."""

import numpy as np

from xebench import Claim, Figure, Pattern

from ..common import parts

pattern = Pattern(
    name="explicit_subdevice_triad",
    catalogue=("E83", "explicit_subdevice_triad", "explicit_subdevice_vecadd_omp"),
    guide="Multiple Stacks / Explicit Scaling",
    lesson="Cut the device into its stacks, and give each a queue and its part of the data: twice the stacks, half "
    "the time.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        # so many rounds that the way of the result to the host weighs little
        "default": {"n": {"cpu": 1 << 20, "gpu": 1 << 24}, "rounds": {"cpu": 8, "gpu": 128}},
        "guide": {"n": 8_000_000 * 32, "rounds": 10},  # in the guide 200 rounds, or 10, of 64-bit numbers
    },
    axes={"devices": (2,)},
    metric="wall",
)


@pattern.problem
def two_arrays(rng, n):
    return parts.two_arrays(rng, n)


@pattern.reference
def expected(p):
    return {"total": p.a + np.float32(parts.FACTOR) * p.b}


@pattern.naive
def one_sub_device(session, p, devices):
    """One stack does everything."""
    first, *_ = session.queues_on(devices, kind="sub-devices")
    return parts.in_parts(session, p, parts.add_scaled, [first], [1])


@pattern.optimized(claim=Claim("faster", on=("gpu",), figure=Figure(2.0, device="Data Center GPU Max", line="G 17734")))
def every_sub_device(session, p, devices):
    """Each stack has a queue, and its part of the arrays."""
    queues = session.queues_on(devices, kind="sub-devices")
    return parts.in_parts(session, p, parts.add_scaled, queues, [1] * devices)


@pattern.baseline
def undivided_device(session, p):
    """The device as a whole: its driver hands work-groups to the stacks (implicit scaling)."""
    return parts.in_parts(session, p, parts.add_scaled, [session.queue], [1])
