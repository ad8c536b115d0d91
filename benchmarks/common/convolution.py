"""A convolution of one dimension with 257 taps, in int32: what the lessons on conditionals and on caching share."""

import numpy as np

from xebench import kernel, output
from xebench import kernel_api as kapi

M = 257  # taps, as in the guide
HALO = M // 2  # elements that an element's sum needs on each side of it


@kernel
def read_padded(item: kapi.NdItem, x, weights, y):
    """``x`` has ``HALO`` elements before and behind those that the items have, so no read is out of bounds."""
    i = item.get_global_id(0)
    total = np.int32(0)
    for k in range(M):
        total = np.int32(total + np.int32(x[i + k] * weights[k]))
    y[i] = total


def fields(rng, n, work_group_size):
    """Fields of the problem; ``x`` is padded by zeros."""
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    if n < M:
        raise ValueError(f"n={n}: no element may have both ends in its window, so give at least {M}")
    return {
        "x": np.pad(rng.integers(0, 100, n, dtype=np.int32), HALO),
        "weights": rng.integers(0, 10, M, dtype=np.int32),
        "y": output(n, np.int32),
    }


def expected(p):
    """The reference."""
    # sums stay below 2**24, where float32 is exact; numpy is eight times as fast there as in int32
    x, weights = p.x.astype(np.float32), p.weights[::-1].astype(np.float32)
    return {"y": np.convolve(x, weights, "valid").astype(np.int32)}
