"""Multiply matrices: keep the sum in a register, and share tiles of the factors in shared local memory."""

import numpy as np

from xebench import Claim, Figure, Pattern, kernel
from xebench import kernel_api as kapi

from ..common import square_matmul
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="tiled_matmul",
    catalogue=("E89", "matmul_global_register_slm"),
    guide="Intel Advisor / Run a GPU Roofline Analysis",
    lesson="A sum in a register is stored once, not n times; a tile in SLM is fetched once and used 16 times.",
    presets={
        "smoke": {"n": (128, 112)},
        "default": {"n": {"cpu": 384, "gpu": 1024}},
        "guide": {"n": 1024},
    },
)


@kernel
def sum_in_memory(item: kapi.NdItem, a, b, c):
    col = item.get_global_id(0)
    row = item.get_global_id(1)
    c[row, col] = np.float32(0)
    for k in range(a.shape[1]):
        c[row, col] += a[row, k] * b[k, col]


@pattern.problem
def whole_numbers(rng, n):
    return square_matmul.whole_numbers(rng, n, np.float32)


pattern.reference(square_matmul.product)


@pattern.naive
def accumulate_in_memory(session, p):
    """Each step adds to the result's element in global memory."""
    session.launch(sum_in_memory, square_matmul.groups(p), p.a, p.b, p.c)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 21304 to 21307"))
def accumulate_in_register(session, p):
    """The sum stays in a register and is stored once."""
    return square_matmul.from_register(session, p, np.float32)


# The guide's text gives 396.97 GFLOP/s to the naive program; its table of kernels, to the sum in a register.
@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), source="G 21289 to 21418"),
        Claim(
            "faster",
            against="accumulate_in_register",
            on=("gpu",),
            figure=Figure(3994.98 / 396.97, line="G 21270, 21418"),  # names no product; two stacks are active
        ),
    )
)
def slm_tiles(session, p):
    """The group also fetches 16 by 16 tiles of both factors into SLM, and multiplies from there."""
    return square_matmul.from_tiles(session, p, np.float32)


in_opencl(pattern, slm_tiles)
