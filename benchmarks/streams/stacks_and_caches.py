"""Two stacks have twice the cache: data that fit both caches, and not one, are worth more than twice the speed."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="stacks_and_caches",
    catalogue=("E85",),
    guide="Implicit Scaling / Performance Expectations",
    lesson="Scaling is better than linear where the data fit the caches of both stacks together.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "rounds": 4},
        # more than half of the card's cache
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 16, per_cache_byte=5 / 32 / 64)}, "rounds": 16},
        "guide": {"n": 1 << 20, "rounds": 64},  # 256 MiB: a stack of a Max has 204, the card 408
    },
    own_sizes="the guide has no program",
    short_launches="the data must fit the caches of a card",
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # the device is the card
)

PER_ITEM = 64  # numbers


@kernel
def add_again(item: kapi.Item, x, y, rounds):
    i = item.get_id(0)
    total = np.int32(0)
    for turn in range(rounds):
        for k in range(PER_ITEM):
            total = np.int32(total ^ np.int32(x[k * y.shape[0] + i] + np.int32(turn)))
    y[i] = total


@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.integers(0, 1 << 30, n * PER_ITEM, dtype=np.int32), y=output(n, np.int32))


@pattern.reference
def expected(p):
    rows, total = p.x.reshape(PER_ITEM, p.n), np.zeros(p.n, np.int32)
    for turn in range(p.rounds):
        total ^= np.bitwise_xor.reduce(rows + np.int32(turn), axis=0)
    return {"y": total}


@pattern.naive(environment={"ZE_FLAT_DEVICE_HIERARCHY": "FLAT"})
def on_one_stack(session, p):
    """The device is a stack, whose cache does not hold the numbers."""
    session.launch(add_again, kapi.Range(p.n), p.x, p.y, p.rounds)


@pattern.optimized(
    claim=Claim("faster", at_least=2.0, on=("gpu",), requires=("stacks=2",), strength="implied", source="G 17778")
)
def on_both_stacks(session, p):
    """The device is the card, whose caches hold them together."""
    session.launch(add_again, kapi.Range(p.n), p.x, p.y, p.rounds)
