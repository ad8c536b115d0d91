"""Several independent products of matrices: the problem of the patterns about calls of a library's GEMM.

The guide computes in double precision, which not every GPU has and none of these lessons is about.
"""

import numpy as np

from xebench import Problem, output


def several(rng, products, m, k, n):
    """Small whole numbers: every sum is exact in float32, in whatever order it is formed."""
    return Problem(
        a=rng.integers(0, 10, (products, m, k), dtype=np.uint8).astype(np.float32),
        b=rng.integers(0, 10, (products, k, n), dtype=np.uint8).astype(np.float32),
        c=output((products, m, n), np.float32),
        bytes_moved=4 * products * (m * k + k * n + m * n),
        operations=2 * products * m * k * n,
    )


def multiplied(p):
    """The reference."""
    # exact in float32; doubles say that it has no error
    return {"c": (p.a @ p.b).astype(np.float64)}


def parts(p):
    """The arrays of each product: two factors, and what is to hold their product."""
    return [(p.a[i], p.b[i], p.c[i]) for i in range(p.products)]
