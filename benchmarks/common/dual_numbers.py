"""Ten vectors of eight doubles in every work-item, added up in a way that keeps them all alive: 160 registers a lane.

The guide's kernel for high register pressure (G 2353 to 2787), inspired by automatic differentiation with dual numbers.
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


@device_func
def store_sums(x, y, i, a):
    """Sums of sums of ten vectors, and five of the vectors: all ten must wait in registers for the last sums.

    The first vector, ``a``, may come from elsewhere than ``x``.
    """
    b, c, d, e, f = load(x, i, 1), load(x, i, 2), load(x, i, 3), load(x, i, 4), load(x, i, 5)
    g, h, k, m = load(x, i, 6), load(x, i, 7), load(x, i, 8), load(x, i, 9)
    low, high = add(a, m), add(b, k)
    inner, outer = add(add(c, h), low), add(add(d, g), high)
    rest = add(add(e, f), inner)
    accumulate(y, i, 0, add(add(low, outer), a))
    accumulate(y, i, 1, add(add(high, rest), f))
    accumulate(y, i, 2, inner)
    accumulate(y, i, 3, outer)
    accumulate(y, i, 4, rest)
    accumulate(y, i, 5, b)
    accumulate(y, i, 6, c)
    accumulate(y, i, 7, d)
    accumulate(y, i, 8, e)
    accumulate(y, i, 9, g)


ADDITIONS = (9 + 2 + 10) * PARTS  # of a work-item: nine for the inner sums


def sums_of(x):
    """What ``store_sums`` adds to zeros: by numpy, from the vectors ``(items, 10, 8)``."""
    a, b, c, d, e, f, g, h, k, m = np.moveaxis(x, 1, 0)
    low, high = a + m, b + k
    inner, outer = c + h + low, d + g + high
    rest = e + f + inner
    return np.stack([low + outer + a, high + rest + f, inner, outer, rest, b, c, d, e, g], axis=1).reshape(-1)


def fields(rng, n, work_group_size):
    """Fields of the problem of ``n`` items: whole numbers, whose sums are exact in whatever order."""
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return {
        "x": rng.integers(0, 100, (n * VALUES), dtype=np.uint8).astype(np.float64),
        "y": inout(np.zeros(n * VALUES)),
        "bytes_moved": 3 * 8 * n * VALUES,
        "operations": ADDITIONS * n,
        "operation_kind": "fp64",
    }
