"""Have oneMKL multiply float32 matrices on an engine for short numbers: as one, two or three bfloat16, or as tf32.

A mode allows it, and oneMKL decides by device and size. A mode whose product is that of single precision, bit for bit,
was not used, and is skipped.
"""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, output

from ..common import onemkl

pattern = Pattern(
    name="matrix_engine_modes",
    catalogue=("E61",),
    guide="Using Libraries for GPU Offload / Boost Matrix Multiplication Performance with XMX",
    lesson="One bfloat16 for each number is fastest, two keep more digits, three nearly all that float32 has.",
    presets={
        "smoke": {"n": (128, 129)},
        "default": {"n": {"cpu": 256, "gpu": 2048}},
        "guide": {"n": 4096},
    },
    own_sizes="the guide names no size",
    # a bfloat16 is within 2**-9 of a number, and so a product of two within 2**-8; nothing cancels. Of two and three,
    # claims ask for smaller errors.
    rtol=2**-8,
    requires=("onemkl",),
)

# Percent of the device's peak in single precision.
PERCENT = {"fp32": 98, "bf16": 577, "bf16x2": 280, "bf16x3": 161}


@pattern.problem
def positive_numbers(rng, n):
    a, b = (rng.uniform(0.5, 1, (n, n)).astype(np.float32) for _ in range(2))
    return Problem(a=a, b=b, c=output((n, n), np.float32), bytes_moved=3 * 4 * n * n)


@pattern.reference
def expected(p):  # in double precision, since errors are compared
    return {"c": p.a.astype(np.float64) @ p.b.astype(np.float64)}


def by_mode(session, p, compute_mode):
    return lambda: session.call(onemkl.gemm, p.a, p.b, p.c, compute_mode=compute_mode)


def faster(mode, than):
    figure = Figure(PERCENT[mode] / PERCENT[than], device="Max 1550", line="G 6456 to 6459")
    return Claim("faster", against=than, on=("gpu",), figure=figure)


def accurate(than):
    return Claim("accurate", against=than, on=("gpu",), source="G 6453")


@pattern.naive
def fp32(session, p):
    """Single precision, on the vector engine."""
    return by_mode(session, p, "standard")


@pattern.optimized(claim=(faster("bf16", "fp32"), faster("bf16", "bf16x2")))
def bf16(session, p):
    """One bfloat16 for each number."""
    return by_mode(session, p, "bf16")


@pattern.optimized(claim=(faster("bf16x2", "fp32"), faster("bf16x2", "bf16x3"), accurate("bf16")))
def bf16x2(session, p):
    """Two bfloat16 for each number."""
    return by_mode(session, p, "bf16x2")


@pattern.optimized(claim=(faster("bf16x3", "fp32"), accurate("bf16x2")))
def bf16x3(session, p):
    """Three bfloat16 for each number."""
    return by_mode(session, p, "bf16x3")


# The guide names the type among those of the engine, without a figure. That its 10 bits of fraction keep more than
# bfloat16's 7 is ours.
@pattern.intermediate(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 6435"),
        Claim("accurate", against="bf16", on=("gpu",)),
    )
)
def tf32(session, p):
    """One tf32 for each number: float32's range, and the digits of float16."""
    return by_mode(session, p, "tf32")
