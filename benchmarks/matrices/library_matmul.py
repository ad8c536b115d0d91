"""Multiply matrices by the library: experts have already tiled, unrolled and tuned it for the device."""

import dpnp
import numpy as np

from xebench import Claim, Pattern

from ..common import square_matmul

pattern = Pattern(
    name="library_matmul",
    catalogue=("E58",),
    guide="Using Libraries for GPU Offload / Using Performance Libraries",
    lesson="Look for a library's version of an operation before writing one: it knows the device better.",
    presets={
        "smoke": {"n": (128, 7 * 16)},
        "default": {"n": {"cpu": 384, "gpu": 2048}},
        "guide": {"n": 4000},  # of the guide's published script, whose other two sizes are not square
    },
    metric="wall",  # what the library does on the host counts
)


@pattern.problem
def whole_numbers(rng, n):
    return square_matmul.whole_numbers(rng, n, np.float32)


pattern.reference(square_matmul.product)


# The guide's kernel reaches its rows through an array of pointers, which numba-dpex cannot; the loop is the same.
@pattern.naive
def own_kernel(session, p):
    """A work-item for each element of the product, which adds up along a row and a column."""
    return square_matmul.from_register(session, p, np.float32)


@pattern.intermediate
def own_tiles(session, p):
    """The same with tiles in SLM, as far as a careful afternoon gets."""
    return square_matmul.from_tiles(session, p, np.float32)


@pattern.optimized(
    claim=(
        Claim("faster", source="G 5756"),
        Claim("faster", against="own_tiles", strength="implied", source="G 5663"),
    ),
    requires=("onemkl",),
)
def library(session, p):
    """dpnp.matmul, which is oneMKL's gemm."""
    return lambda: session.call(dpnp.matmul, p.a, p.b, out=p.c)
