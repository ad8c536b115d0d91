"""Try small work-groups where items wait for each other: a barrier of many sub-groups may cost more."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="barriers_of_large_groups",
    catalogue=("E35",),
    guide="Shared Local Memory / Data Sharing and Work-group Barriers",
    lesson="A barrier has a cost, which may grow with the work-group: do not let more items meet than share data.",
    presets={
        "smoke": {"n": (1 << 12, 5 << 10), "rounds": 16},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 20, per_lane=8)}, "rounds": 128},
        "guide": {"n": 1 << 20, "rounds": 1024},
    },
    own_sizes="the guide gives the advice without a program",
    odd_sizes={},
)

NEIGHBOURS = 64  # items that hand their numbers round, whatever the work-group


@kernel
def hand_round(item: kapi.NdItem, x, y, slm, rounds):
    i, place = item.get_global_id(0), item.get_local_id(0)
    following = place // NEIGHBOURS * NEIGHBOURS + (place + 1) % NEIGHBOURS
    value = x[i]
    for _ in range(rounds):
        slm[place] = value
        kapi.group_barrier(item.get_group())
        value = np.int32(value ^ np.int32(slm[following] + np.int32(1)))
        kapi.group_barrier(item.get_group())
    y[i] = value


@pattern.problem
def numbers(rng, n):
    if n % 1024:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of 1024")
    return Problem(x=rng.integers(0, 1 << 20, n, dtype=np.int32), y=output(n, np.int32))


@pattern.reference
def expected(p):
    value = p.x.reshape(-1, NEIGHBOURS)
    for _ in range(p.rounds):
        value = value ^ (np.roll(value, -1, axis=1) + np.int32(1))
    return {"y": value.ravel()}


def in_groups(session, p, size):
    slm = kapi.LocalAccessor(size, np.int32)
    return lambda: session.launch(hand_round, kapi.NdRange((p.n,), (size,)), p.x, p.y, slm, p.rounds)


@pattern.naive(requires=("work_group_size=1024",))
def groups_of_1024(session, p):
    """All 1024 items of a work-group meet, though 64 share data."""
    return in_groups(session, p, 1024)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 3053"))
def groups_of_256(session, p):
    """256 meet."""
    return in_groups(session, p, 256)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 3053"))
def groups_of_64(session, p):
    """Those meet that share data."""
    return in_groups(session, p, NEIGHBOURS)
