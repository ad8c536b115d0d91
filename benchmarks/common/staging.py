"""Host memory that a device copies from and to by itself: host USM, and the same memory as numpy sees it."""

import itertools

import numpy as np


def host_array(session, shape, dtype):
    """An array in host USM for `session.copy`, and a view of it for the host."""
    array = session.alloc(shape, dtype, usm="host")
    return array, np.ndarray(shape, dtype, buffer=array.usm_data)


def parts(n, count):
    """Where each of ``count`` nearly equal parts of n elements begins and ends."""
    if n < count:
        raise ValueError(f"n={n}: give at least {count}, one element for each chunk")
    bounds = [n * k // count for k in range(count + 1)]
    return list(itertools.pairwise(bounds))
