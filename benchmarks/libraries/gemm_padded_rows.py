"""Begin every row of a matrix with a cache line, but not all with the same sets of the cache.

The library's GEMM takes how far apart rows are: its leading dimension, which dpnp does not hand on.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, output

from ..common import onemkl

pattern = Pattern(
    name="gemm_padded_rows",
    catalogue=("E80",),
    guide="Math Library / Padding of Matrices Used in GEMM Computations",
    lesson="Rows as long as whole cache lines, but no large power of two apart, may be read faster.",
    presets={
        "smoke": {"rows": (16, 17)},
        "default": {"rows": {"cpu": 32, "gpu": 1024}},
        "guide": {"rows": 1024},
    },
    own_sizes="rows of the guide's 15000 doubles keep both rules without padding",
    # 1024 float32 are 4096 bytes, of which the second rule warns; 1001 are no whole lines, the first rule's case
    axes={"n": (1024, 1001)},
    requires=("onemkl",),
)

LINE, PAGE = 16, 1024  # float32 of a cache line, and of 4096 bytes


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


def product_of(session, p, a, b):
    """The library's product of arrays whose rows may be longer than the product needs."""
    return lambda: session.call(onemkl.gemm, a[:, : p.n], b[:, : p.n], p.c)


@pattern.naive
def rows_end_to_end(session, p):
    """A row begins where the one before ends."""
    return product_of(session, p, p.a, p.b)


# The guide's own figures for padded rows say the contrary of its advice: 138.4 s, and padded 145.2 s (G 11748, 11786).
# Its rows of 15000 doubles kept both rules without padding. Of the second rule it says "in some cases". It pads the
# result's rows as well, and calls that less important (G 11160).
@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), where={"n": 1001}, source="G 11158"),
        Claim("faster", on=("gpu",), where={"n": 1024}, strength="ours", source="G 11162"),
    )
)
def padded_rows(session, p):
    """Rows of whole lines, and one line more where they would be a multiple of 4096 bytes."""
    length = ceil_div(p.n, LINE) * LINE
    length += LINE if length % PAGE == 0 else 0
    padded = []
    for tight in (p.host.a, p.host.b):
        rows = np.zeros((tight.shape[0], length), np.float32)
        rows[:, : p.n] = tight
        padded.append(session.alloc(rows.shape, np.float32))
        session.copy(padded[-1], rows)
    return product_of(session, p, *padded)
