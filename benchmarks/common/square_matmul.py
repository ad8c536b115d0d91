"""Multiply square matrices, in any type of numbers: the problem, and two kernels that several patterns compare.

Columns are dimension 0, which in numba-dpex is the hardware's fastest: neighbouring work-items read neighbouring
columns.
"""

import numpy as np

from xebench import Problem, kernel, output
from xebench import kernel_api as kapi

TILE = 16  # rows and columns of a work-group and of its tiles, as in the guide


def whole_numbers(rng, n, number, *, host=False):
    """Small whole numbers: every sum is exact, in float32 too, in whatever order it is formed.

    Args:
        number: `np.float32` or `np.int32`.
        host: whether the product is to arrive in host memory.

    Raises:
        ValueError: the matrix has no whole tiles.
    """
    if n % TILE:
        raise ValueError(f"n={n}: tiles must be whole, so give a multiple of {TILE}")
    return Problem(
        a=rng.integers(0, 10, (n, n), dtype=np.uint8).astype(number),
        b=rng.integers(0, 10, (n, n), dtype=np.uint8).astype(number),
        c=output((n, n), number, host=host),
        bytes_moved=3 * 4 * n * n,
        operations=2 * n**3,
        operation_kind="int32" if number is np.int32 else "fp32",
    )


def product(p):
    """The reference; by way of float32, in which it is exact: numpy multiplies matrices of integers slowly."""
    return {"c": (p.a.astype(np.float32) @ p.b.astype(np.float32)).astype(np.float64)}


def sum_in_register_of(number):
    """The kernel in which an item's sum stays in a register, and is stored once."""

    @kernel
    def sum_in_register(item: kapi.NdItem, a, b, c):
        col = item.get_global_id(0)
        row = item.get_global_id(1)
        total = number(0)
        for k in range(a.shape[1]):
            total = number(total + a[row, k] * b[k, col])
        c[row, col] = total

    return sum_in_register


def tiles_in_slm_of(number):
    """The kernel in which a group also fetches tiles of both factors into SLM, and multiplies from there."""

    @kernel
    def tiles_in_slm(item: kapi.NdItem, a, b, c, tile_a, tile_b):
        col = item.get_global_id(0)
        row = item.get_global_id(1)
        x = item.get_local_id(0)
        y = item.get_local_id(1)
        total = number(0)
        for tile in range(a.shape[1] // TILE):
            tile_a[y, x] = a[row, tile * TILE + x]
            tile_b[y, x] = b[tile * TILE + y, col]
            kapi.group_barrier(item.get_group())
            for k in range(TILE):
                total = number(total + tile_a[y, k] * tile_b[k, x])
            kapi.group_barrier(item.get_group())
        c[row, col] = total

    return tiles_in_slm


def groups(p):
    """A work-item for each element of the product, a work-group for each tile."""
    return kapi.NdRange((p.n, p.n), (TILE, TILE))


def from_register(session, p, number):
    """A variant: `sum_in_register_of`."""
    multiply = sum_in_register_of(number)
    return lambda: session.launch(multiply, groups(p), p.a, p.b, p.c)


def from_tiles(session, p, number):
    """A variant: `tiles_in_slm_of`."""
    multiply = tiles_in_slm_of(number)
    tile_a, tile_b = (kapi.LocalAccessor((TILE, TILE), number) for _ in range(2))
    return lambda: session.launch(multiply, groups(p), p.a, p.b, p.c, tile_a, tile_b)
