"""Ten vectors of eight doubles in every work-item, added up so that all of them stay alive: 160 registers a lane.

The guide's kernel for high register pressure (G 2353 to 2787), with its names and sums.
"""

import numpy as np

from xebench import device_func, inout
from xebench.dpex import vector

PARTS = 8  # of a vector
VECTORS = 10
VALUES = VECTORS * PARTS  # of a work-item


@device_func
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7])


@device_func
def load(x, i, number):
    """Vector ``number`` of item ``i``."""
    return vector.load8(x, i * VALUES + number * PARTS)


@device_func
def accumulate(y, i, number, values):
    """Add to vector ``number`` of item ``i``."""
    first = i * VALUES + number * PARTS
    vector.store8(y, first, add(vector.load8(y, first), values))


ADDITIONS = (5 + 11 + 10) * PARTS  # of a work-item: five sums, what is added to them, and the accumulation


def sums_of(x, v0):
    """The sums that both kernels add to zeros: by numpy, from vectors ``(items, 10, 8)`` and ``v0``."""
    own, v1, v2, v3, v4, v5, v6, v7, v8, v9 = np.moveaxis(x, 1, 0)
    p1 = v1 + v6
    p0 = own + v5 + p1 + v5
    p2 = v2 + v7 + v3 + v8 + v6
    p4 = v4 + v9 + p1 + v7
    p3 = v3 + v8 + p2 + v8
    return np.stack([p0, p1 + v0, p0 + p4 + v9, p3, p4, v0, v1, v2, v3, v4], axis=1).reshape(-1)


def fields(rng, n, work_group_size):
    """Fields of the problem of ``n`` items: whole numbers, whose sums are exact in whatever order."""
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return {
        "x": rng.integers(0, 128, (n * VALUES), dtype=np.uint8).astype(np.float64),
        "y": inout(np.zeros(n * VALUES)),
        "bytes_moved": 3 * 8 * n * VALUES,
        "operations": ADDITIONS * n,
        "operation_kind": "fp64",
    }
