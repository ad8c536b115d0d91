"""Unrolling lets loads run ahead and saves jumps, until what is on its way no longer fits registers."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="moderate_unrolling",
    catalogue=("E23",),
    guide="Registers and Performance / Optimizing Register Spills",
    lesson="Try several factors of unrolling: each further step of a loop brings variables that need registers.",
    presets={
        "smoke": {"n": (1 << 10, 3 * 256)},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 16, per_lane=2)}},
        "guide": {"n": 1 << 20},
    },
    own_sizes="the guide has no program for this advice",
    axes={"work_group_size": (256,)},
    rtol=1e-4,  # sums of up to 128 positive numbers, in float32
)

STEPS = 128  # of the loop
PART = 1 << 10  # items that numpy works on at once
COEFFICIENTS = tuple(np.float32(1 / (power + 1)) for power in range(8))


def add_polynomials(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    total = np.float32(0)
    for step in range(STEPS):
        value = x[step, i]
        term = COEFFICIENTS[7]
        term = term * value + COEFFICIENTS[6]
        term = term * value + COEFFICIENTS[5]
        term = term * value + COEFFICIENTS[4]
        term = term * value + COEFFICIENTS[3]
        term = term * value + COEFFICIENTS[2]
        term = term * value + COEFFICIENTS[1]
        total += term * value + COEFFICIENTS[0]
    y[i] = total


@pattern.problem
def rows(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(
        x=rng.random((STEPS, n), np.float32),
        y=output(n, np.float32),
        bytes_moved=4 * (STEPS * n + n),
        operations=(2 * 7 + 1) * STEPS * n,
    )


@pattern.reference
def expected(p):
    y = np.empty(p.n, np.float32)
    for begin in range(0, p.n, PART):
        x = p.x[:, begin : begin + PART].astype(np.float64)
        y[begin : begin + PART] = np.polynomial.polynomial.polyval(x, COEFFICIENTS).sum(axis=0)
    return {"y": y}


def launcher(session, p, work_group_size, unroll):
    add = kernel(unroll=unroll)(add_polynomials)
    return lambda: session.launch(add, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y)


def fewer(word):
    return Claim(word, against="unrolled_fully", on=("gpu",), strength="implied", source="G 1881 to 1883")


@pattern.naive
def rolled(session, p, work_group_size):
    """One step a turn."""
    return launcher(session, p, work_group_size, "disable")


@pattern.intermediate(claim=fewer("registers"))
def unrolled_by_2(session, p, work_group_size):
    """Two steps a turn."""
    return launcher(session, p, work_group_size, 2)


@pattern.optimized(claim=(Claim("faster", on=("gpu",), strength="implied", source="G 1883"), fewer("registers")))
def unrolled_by_4(session, p, work_group_size):
    """Four steps a turn: their loads are on their way together."""
    return launcher(session, p, work_group_size, 4)


@pattern.optimized(claim=(Claim("faster", on=("gpu",), strength="implied", source="G 1883"), fewer("registers")))
def unrolled_by_8(session, p, work_group_size):
    """Eight steps a turn."""
    return launcher(session, p, work_group_size, 8)


@pattern.antipattern
def unrolled_fully(session, p, work_group_size):
    """All 128 steps: the compiler may have more loads on their way than there are registers."""
    return launcher(session, p, work_group_size, "full")


in_opencl(pattern, unrolled_by_4)
