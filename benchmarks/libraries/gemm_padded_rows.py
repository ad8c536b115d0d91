"""Begin every row of a matrix with a cache line, but not all with the same sets of the cache.

The library's GEMM takes a leading dimension, which dpnp does not hand on: it copies such arrays first. So the product
is our own, by tiles.
"""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="gemm_padded_rows",
    catalogue=("E80",),
    guide="Math Library / Padding of Matrices Used in GEMM Computations",
    lesson="Rows as long as whole cache lines, but no large power of two apart, may be read faster.",
    presets={
        "smoke": {"rows": (16, 17)},
        "default": {"rows": {"cpu": 32, "gpu": 1024}},
        "guide": {"rows": 1024},  # the guide's 15000 would take our kernel seconds
    },
    # 1024 float32 are 4096 bytes, of which the second rule warns; 1001 are no whole lines, the first rule's case
    axes={"n": (1024, 1001)},
)

LINE, PAGE = 16, 1024  # float32 of a cache line, and of 4096 bytes
TILE = 16


@pattern.problem
def whole_numbers(rng, rows, n):
    return Problem(
        a=rng.integers(0, 10, (rows, n), dtype=np.uint8).astype(np.float32),
        b=rng.integers(0, 10, (n, n), dtype=np.uint8).astype(np.float32),
        c=output((rows, n), np.float32),
        bytes_moved=4 * (2 * rows * n + n * n),
        operations=2 * rows * n * n,
    )


@pattern.reference
def expected(p):
    # exact in float32; doubles say that it has no error
    return {"c": (p.a @ p.b).astype(np.float64)}


@kernel
def multiply(item: kapi.NdItem, a, b, c, tile_a, tile_b):
    """The arrays `a` and `b` may have longer rows than the product needs. Columns are dimension 0."""
    column, row = item.get_global_id(0), item.get_global_id(1)
    x, y = item.get_local_id(0), item.get_local_id(1)
    rows, n = c.shape[0], c.shape[1]
    total = np.float32(0)
    for first in range(0, n, TILE):
        tile_a[y, x] = np.float32(0)
        if row < rows and first + x < n:
            tile_a[y, x] = a[row, first + x]
        tile_b[y, x] = np.float32(0)
        if first + y < n and column < n:
            tile_b[y, x] = b[first + y, column]
        kapi.group_barrier(item.get_group())
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        kapi.group_barrier(item.get_group())
    if row < rows and column < n:
        c[row, column] = total


def product_of(session, p, a, b):
    whole_rows, whole_columns = (-(-size // TILE) * TILE for size in (p.rows, p.n))
    tiles = [kapi.LocalAccessor((TILE, TILE), np.float32) for _ in range(2)]
    space = kapi.NdRange((whole_columns, whole_rows), (TILE, TILE))
    return lambda: session.launch(multiply, space, a, b, p.c, *tiles)


@pattern.naive
def rows_end_to_end(session, p):
    """A row begins where the one before ends."""
    return product_of(session, p, p.a, p.b)


# The guide's own figures for padded rows say the contrary of its advice: 138.4 s, and padded 145.2 s. Its rows of
# 15000 doubles kept both rules without padding.
@pattern.optimized(
    claim=Claim(
        "faster", on=("gpu",), figure=Figure(138.368065 / 145.219459, line="G 11748, 11786"), source="G 11149 to 11166"
    )
)
def padded_rows(session, p):
    """Rows of whole lines, and one line more where they would be a multiple of 4096 bytes."""
    length = -(-p.n // LINE) * LINE
    length += LINE if length % PAGE == 0 else 0
    padded = []
    for tight in (p.host.a, p.host.b):
        rows = np.zeros((tight.shape[0], length), np.float32)
        rows[:, : p.n] = tight
        padded.append(session.alloc(rows.shape, np.float32))
        session.copy(padded[-1], rows)
    return product_of(session, p, *padded)
