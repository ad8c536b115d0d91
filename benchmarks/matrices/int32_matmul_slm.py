"""Multiply matrices of integers: a kernel that the cache limits is freed by tiles in shared local memory."""

import numpy as np

from xebench import Claim, Figure, Pattern

from ..common import square_matmul
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="int32_matmul_slm",
    catalogue=("E90", "matmul_int_roofline_slm"),
    guide="Intel Advisor / Optimize Memory-bound Applications with GPU Roofline",
    lesson="A kernel under the roof of its cache gains from SLM, whose roof is higher, until arithmetic limits it.",
    presets={
        "smoke": {"n": (128, 7 * 16)},
        "default": {"n": {"cpu": 256, "gpu": 1024}},
        "guide": {"n": 2048},
    },
)

# Gop/s on Tiger Lake, of which the guide names no product: 27 % and 47 % of its integer roof (G 21582, 21610)
CACHE, SLM = 266.94, 460.91


@pattern.problem
def whole_numbers(rng, n):
    return square_matmul.whole_numbers(rng, n, np.int32)


pattern.reference(square_matmul.product)


@pattern.naive
def factors_from_cache(session, p):
    """Each item reads a row and a column; neighbours read the same ones, so most come from a cache."""
    return square_matmul.from_register(session, p, np.int32)


@pattern.optimized(claim=Claim("faster", on=("gpu",), figure=Figure(SLM / CACHE, line="G 21582, 21610")))
def factors_from_slm(session, p):
    """The group fetches 16 by 16 tiles of both factors into SLM, and multiplies from there."""
    return square_matmul.from_tiles(session, p, np.int32)


in_opencl(pattern, factors_from_cache)
