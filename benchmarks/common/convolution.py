"""A convolution of one dimension with 257 taps, in int32: what the lessons on conditionals and on caching share."""

import numpy as np

from xebench import device_func, kernel, output
from xebench import kernel_api as kapi

M = 257  # taps, as in the guide
HALO = M // 2  # elements that an element's sum needs on each side of it


@device_func
def term(signal, weights, i, k):
    return np.int32(signal[i - HALO + k] * weights[k])


@kernel
def check_ends(item: kapi.NdItem, signal, weights, y):
    """The guide's first program: groups at the ends ask of each item; of four loops it takes one."""
    i = item.get_global_id(0)
    size = item.get_local_range(0)
    first = item.get_group().get_group_id(0) * size
    n = signal.shape[0]
    total = np.int32(0)
    if first < HALO or first + size > n - HALO:
        if i < HALO:
            for k in range(HALO - i, M):
                total = np.int32(total + term(signal, weights, i, k))
        elif i >= n - HALO:
            for k in range(n + HALO - i):
                total = np.int32(total + term(signal, weights, i, k))
        else:
            for k in range(M):
                total = np.int32(total + term(signal, weights, i, k))
    else:
        for k in range(M):
            total = np.int32(total + term(signal, weights, i, k))
    y[i] = total


@kernel
def read_padded(item: kapi.NdItem, x, weights, y):
    """``x`` has ``HALO`` elements before and behind those that the items have, so no read is out of bounds."""
    i = item.get_global_id(0)
    total = np.int32(0)
    for k in range(M):
        total = np.int32(total + np.int32(x[i + k] * weights[k]))
    y[i] = total


def fields(rng, n, work_group_size):
    """Fields of the problem."""
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    if n < M:
        raise ValueError(f"n={n}: no element may have both ends in its window, so give at least {M}")
    return {
        "signal": rng.integers(0, 100, n, dtype=np.int32),
        "weights": rng.integers(0, 10, M, dtype=np.int32),
        "y": output(n, np.int32),
    }


def expected(p):
    """The reference."""
    # sums stay below 2**24, where float32 is exact; numpy is eight times as fast there as in int32
    x, weights = p.signal.astype(np.float32), p.weights[::-1].astype(np.float32)
    return {"y": np.convolve(x, weights, "same").astype(np.int32)}
