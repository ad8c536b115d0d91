"""What the lessons on occupancy compute: chains of operations that wait for one another, and a meeting in between.

A thread that waits for its own last operation leaves its engine idle, unless other threads are there. So the time of
such a kernel tells how many there are, as long as few are: how many an engine needs until it never idles is the ratio
of an operation's latency to the time to issue it, which no Intel GPU has been asked yet.
"""

import numpy as np

from xebench import Problem, ceil_div, device_func, kernel, output
from xebench import kernel_api as kapi

ADDEND = 12345
UNROLLED = 8  # steps without a loop: what a loop takes would fill the gaps that are to be seen
PART = 1 << 16  # elements that numpy works on at once
ROW = 32  # neighbouring work-items that meet; every work-group is made of whole rows


@device_func
def advance(value, steps):
    """``steps`` times the square plus a number, modulo 2**32: each needs the one before."""
    for _ in range(steps // UNROLLED):
        for _ in range(UNROLLED):
            value = np.int32(value * value + ADDEND)
    return value


@kernel
def advance_each(item: kapi.NdItem, x, y, steps):
    """Element i for work-item i, and the one that lies a launch further, and so on."""
    i = item.get_global_id(0)
    while i < y.shape[0]:
        y[i] = advance(x[i], steps)
        i += item.get_global_range(0)


def integers(rng, n, steps):
    """The problem of all these lessons.

    Raises:
        ValueError: a half of the steps cannot be unrolled.
    """
    if steps % (2 * UNROLLED):
        raise ValueError(f"steps={steps}: halves are unrolled, so give a multiple of {2 * UNROLLED}")
    return Problem(
        x=rng.integers(0, 1 << 30, n, dtype=np.int32),
        y=output(n, np.int32),
        bytes_moved=8 * n,
        operations=2 * steps * n,
        operation_kind="int32",
    )


def advanced(x, steps):
    """`advance`, by numpy, in parts that stay in its cache."""
    y = x.copy()
    flat = y.reshape(-1)
    for begin in range(0, flat.size, PART):
        part = flat[begin : begin + PART]
        for _ in range(steps):
            part *= part
            part += np.int32(ADDEND)
    return y


def met(p):
    """The result where each work-item goes on with its mirror image in the row, by numpy; rows end with zeros."""
    rows = np.zeros((ceil_div(p.n, ROW), ROW), np.int32)
    rows.ravel()[: p.n] = advanced(p.x, p.steps // 2)
    return advanced(rows ^ rows[:, ::-1], p.steps // 2).ravel()[: p.n]
