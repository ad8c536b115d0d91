"""Multiply matrices: keep the sum in a register, and share tiles of the factors in shared local memory."""

import numpy as np

from harness import Claim, Figure, Pattern, Problem, kernel, output
from harness import kernel_api as kapi

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

TILE = 16  # rows and columns of a work-group and of its tiles, as in the guide

# Columns are dimension 0, which in numba-dpex is the hardware's fastest: neighbouring work-items read
# neighbouring columns.


@kernel
def sum_in_memory(item: kapi.NdItem, a, b, c):
    col = item.get_global_id(0)
    row = item.get_global_id(1)
    c[row, col] = np.float32(0)
    for k in range(a.shape[1]):
        c[row, col] += a[row, k] * b[k, col]


@kernel
def sum_in_register(item: kapi.NdItem, a, b, c):
    col = item.get_global_id(0)
    row = item.get_global_id(1)
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total


@kernel
def tiles_in_slm(item: kapi.NdItem, a, b, c, tile_a, tile_b):
    col = item.get_global_id(0)
    row = item.get_global_id(1)
    x = item.get_local_id(0)
    y = item.get_local_id(1)
    total = np.float32(0)
    for tile in range(a.shape[1] // TILE):
        tile_a[y, x] = a[row, tile * TILE + x]
        tile_b[y, x] = b[tile * TILE + y, col]
        kapi.group_barrier(item.get_group())
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        kapi.group_barrier(item.get_group())
    c[row, col] = total


@pattern.problem
def whole_numbers(rng, n):
    """Small whole numbers: every sum is exact in float32, in whatever order it is formed."""
    if n % TILE:
        raise ValueError(f"n={n}: tiles must be whole, so give a multiple of {TILE}")
    return Problem(
        a=rng.integers(0, 10, (n, n)).astype(np.float32),
        b=rng.integers(0, 10, (n, n)).astype(np.float32),
        c=output((n, n), np.float32),
        bytes_moved=3 * 4 * n * n,
        operations=2 * n**3,
        operation_kind="fp32",
    )


@pattern.reference
def expected(p):
    return {"c": p.a @ p.b}


def groups(p):
    return kapi.NdRange((p.n, p.n), (TILE, TILE))


@pattern.naive
def accumulate_in_memory(session, p):
    """Each step adds to the result's element in global memory."""
    session.launch(sum_in_memory, groups(p), p.a, p.b, p.c)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 21304 to 21307"))
def accumulate_in_register(session, p):
    """The sum stays in a register and is stored once."""
    session.launch(sum_in_register, groups(p), p.a, p.b, p.c)


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
    tile_a = kapi.LocalAccessor((TILE, TILE), np.float32)
    tile_b = kapi.LocalAccessor((TILE, TILE), np.float32)
    session.launch(tiles_in_slm, groups(p), p.a, p.b, p.c, tile_a, tile_b)
