"""Multiply float32 matrices on an engine for short numbers: as one bfloat16 each, as the sum of two, or of three."""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common import matrix_engine as engine
from ..common import square_matmul

pattern = Pattern(
    name="matrix_engine_modes",
    catalogue=("E61",),
    guide="Using Libraries for GPU Offload / Boost Matrix Multiplication Performance with XMX",
    lesson="One product of short numbers for speed, three for more digits, six for nearly all that float32 has.",
    # The guide lets oneMKL do it. Here matrices are split into terms, which counts, and the engine multiplies the pairs
    # of terms that matter. What each mode costs in digits: 16, 8 and 0 bits of the 24 are lost in each factor.
    presets={
        "smoke": {"n": (128, 192)},
        "default": {"n": {"cpu": 256, "gpu": 2048}},
        "guide": {"n": 4096},
    },
    own_sizes="the guide names no size",
    stand_in="oneMKL does this where its gemm is given a compute mode, which no Python package passes on. Kernels of "
    "our own split the matrices and multiply the terms on the same engine.",
    # a bfloat16 is within 2**-9 of a number, and so a product of two within 2**-8; nothing cancels
    rtol=2**-8,
)


@pattern.problem
def positive_numbers(rng, n):
    engine.check_size(n)
    a, b = (rng.uniform(0.5, 1, (n, n)).astype(np.float32) for _ in range(2))
    return Problem(a=a, b=b, c=output((n, n), np.float32), bytes_moved=3 * 4 * n * n)


@pattern.reference
def expected(p):  # in double precision, since errors are compared
    return {"c": p.a.astype(np.float64) @ p.b.astype(np.float64)}


@pattern.naive
def fp32(session, p):
    """No engine: tiles in SLM, and the vector engine in float32."""
    return square_matmul.from_tiles(session, p, np.float32)


def by_terms(session, p, terms):
    tall, wide = 4, 2
    split = engine.split_into(terms)
    multiply = engine.multiply_on_engine(16, terms, tall, wide)
    of_a, of_b = (session.alloc((terms, p.n, p.n), np.uint16) for _ in range(2))

    def sample():
        session.launch(split, square_matmul.groups(p), p.a, of_a, p.n, 0)
        session.launch(split, square_matmul.groups(p), p.b, of_b, p.n, 1)
        session.launch(multiply, engine.sub_groups(p.n, 16, tall, wide), of_a, of_b, p.c, p.n)

    return sample


# The guide's figures are of oneMKL, with programs that reach the peak; its order of the modes is asked here.
XMX = ("matrix_lanes=16",)
SPEED = {"on": ("gpu",), "strength": "implied", "source": "G 6453 to 6465"}


@pattern.optimized(claim=(Claim("faster", **SPEED), Claim("faster", against="bf16x2", **SPEED)), requires=XMX)
def bf16(session, p):
    """One bfloat16 for each number: one product."""
    return by_terms(session, p, 1)


@pattern.optimized(
    claim=(
        Claim("faster", **SPEED),
        Claim("faster", against="bf16x3", **SPEED),
        Claim("accurate", against="bf16", on=("gpu",), source="G 6453"),
    ),
    requires=XMX,
)
def bf16x2(session, p):
    """Two bfloat16 for each number: three products."""
    return by_terms(session, p, 2)


@pattern.optimized(
    claim=(Claim("faster", **SPEED), Claim("accurate", against="bf16x2", on=("gpu",), source="G 6453")),
    requires=XMX,
)
def bf16x3(session, p):
    """Three bfloat16 for each number: six products."""
    return by_terms(session, p, 3)
