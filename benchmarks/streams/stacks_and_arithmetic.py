"""Arithmetic uses both stacks by itself, if there are enough work-items for both."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="stacks_and_arithmetic",
    catalogue=("E85",),
    guide="Implicit Scaling / Performance Expectations",
    lesson="A kernel bound by arithmetic scales to both stacks with no care for memory; it must have work for both.",
    presets={
        "smoke": {"n": (1 << 10, 1022), "steps": 16},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 18, per_lane=1)}, "steps": {"cpu": 256, "gpu": 4096}},
        "guide": {"n": 262_144, "steps": 4096},  # the least for the two stacks of a Max (G 18133)
    },
    own_sizes="the guide has no program",
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # the device is the card
)

TILE = 1 << 13  # numbers that repeat: numpy would need seconds for the steps of all
ITEMS_OF_TWO_STACKS = 262_144  # 1024 vector engines, 8 threads each, 32 lanes


@kernel
def advance(item: kapi.Item, x, y, steps, items):
    for k in range(item.get_id(0), x.shape[0], items):
        state = x[k]
        for _ in range(steps):
            state = np.uint32(state * np.uint32(1664525) + np.uint32(1013904223))
            state = np.uint32(state ^ (state >> np.uint32(16)))
        y[k] = state


@pattern.problem
def seeds(rng, n):
    if n % 2:
        raise ValueError(f"n={n}: half as many work-items have two numbers each, so give a multiple of 2")
    return Problem(x=np.resize(rng.integers(0, 1 << 32, min(n, TILE), dtype=np.uint32), n), y=output(n, np.uint32))


@pattern.reference
def expected(p):
    state = p.x[:TILE]
    for _ in range(p.steps):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        state = state ^ (state >> np.uint32(16))
    return {"y": np.resize(state, p.n)}


@pattern.naive(environment={"ZE_FLAT_DEVICE_HIERARCHY": "FLAT"})
def on_one_stack(session, p):
    """The device is a stack."""
    session.launch(advance, kapi.Range(p.n), p.x, p.y, p.steps, p.n)


@pattern.optimized(claim=Claim("faster", on=("gpu",), requires=("stacks=2",), source="G 17780"))
def on_both_stacks(session, p):
    """The device is the card, and the driver divides the work-items between its stacks."""
    session.launch(advance, kapi.Range(p.n), p.x, p.y, p.steps, p.n)


@pattern.antipattern(
    claim=Claim(
        "slower",
        against="on_both_stacks",
        where={"n": ITEMS_OF_TWO_STACKS},
        on=("gpu",),
        requires=("stacks=2",),
        strength="implied",
        source="G 18130 to 18133",
    )
)
def half_of_the_items(session, p):
    """Half as many work-items with two numbers each: too few for both stacks, where all are just enough."""
    session.launch(advance, kapi.Range(p.n // 2), p.x, p.y, p.steps, p.n // 2)
