"""A loop whose trip count is known when the kernel is built can be unrolled, or computed beforehand.

SYCL sets the count in the SPIR-V that it has, which no release of dpctl can. Here the kernel is compiled anew with it.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output, specialize
from xebench import kernel_api as kapi

pattern = Pattern(
    name="constant_trip_count",
    catalogue=("E74",),
    guide="Specialization Constants / Simple Trip Count Use Case",
    lesson="Bind a run-time value to the kernel before it is built, and the compiler knows what the host knew.",
    # Watch out: a compiler that knows the sum of an arithmetic series needs no loop, whether it knows the count or not.
    presets={
        "smoke": {"n": (64, 61), "trips": 1024},
        "default": {"n": {"cpu": 1 << 21, "gpu": fit(1 << 22, per_lane=128)}, "trips": 1024},
        "guide": {"n": 1, "trips": 1024},  # one work-item alone, so a launch is nearly all that its time consists of
    },
)


@kernel
def sum_to_argument(item: kapi.Item, totals, trips):
    total = np.int32(0)
    for i in range(trips):
        total = np.int32(total + i)
    totals[item.get_id(0)] = total


def sum_to(trips):
    """The kernel for one trip count."""

    @kernel
    def sum_to_constant(item: kapi.Item, totals):
        total = np.int32(0)
        for i in range(trips):
            total = np.int32(total + i)
        totals[item.get_id(0)] = total

    return sum_to_constant


@pattern.problem
def one_sum_an_item(rng, n, trips):
    return Problem(totals=output(n, np.int32), bytes_moved=4 * n)


@pattern.reference
def expected(p):
    return {"totals": np.full(p.n, p.trips * (p.trips - 1) // 2)}


@pattern.naive
def argument(session, p):
    """The trip count is an argument of the launch: the kernel must take any."""
    session.launch(sum_to_argument, kapi.Range(p.n), p.totals, p.trips)


@pattern.optimized(
    claim=(
        Claim("instructions", on=("gpu",), strength="implied", source="G 8507"),
        # Neither kernel has a loop, so that the times are those of a launch: only a slow argument would show.
        Claim("same", within=0.05),
    )
)
def specialized(session, p):
    """The trip count is a constant of a kernel that is built for it."""
    sum_to_constant = specialize(sum_to, trips=p.trips)
    return lambda: session.launch(sum_to_constant, kapi.Range(p.n), p.totals)
