"""The kernels of the hostile patterns, so that the current stack runs these too.

`xebench pack tests/faulty/kernels.py` makes the pack beside it again, in the pinned environment. The
pattern is there for that: it launches each kernel with the types that the others launch it with.
"""

import math

import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

STEPS = 5000  # some ms, which no launch takes


@kernel
def ones(item: kapi.Item, y):
    y[item.get_id(0)] = np.float32(1)


@kernel
def count(item: kapi.Item, y):
    y[item.get_id(0)] += np.int32(1)


@kernel
def double(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = np.float32(2) * x[i]


@kernel
def double_all_but_one(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i] + x[i] + np.float32(i == 7)


@kernel
def double_even(item: kapi.Item, x, y):
    i = 2 * item.get_id(0)
    y[i] = np.float32(2) * x[i]


@kernel
def double_for_ever(item: kapi.Item, x, y):
    i = item.get_id(0)
    while x[i] >= np.float32(0):
        y[i] += x[i]


@kernel
def double_where_nan(item: kapi.Item, x, y):
    i = item.get_id(0)
    if y[i] != y[i]:
        y[i] = np.float32(2) * x[i]


@kernel
def halve_in_place(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = np.float32(2) * x[i]
    x[i] = np.float32(0.5) * x[i]


@kernel
def change_last(item: kapi.Item, big):
    big[big.shape[0] - 1] = np.uint8(big[big.shape[0] - 1] ^ np.uint8(128))


@kernel
def scale(item: kapi.NdItem, x, y, factor):
    i = item.get_global_id(0)
    y[i] = np.float32(factor) * x[i]


@kernel
def much_work(item: kapi.Item, x, y):
    i = item.get_id(0)
    total = np.float32(0)
    for _ in range(STEPS):
        total = total * np.float32(0.5) + x[i]
    y[i] = total


@kernel
def sqrt(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = math.sqrt(x[i])


@kernel
def local(item: kapi.NdItem, y, slm):
    i = item.get_global_id(0)
    slm[i] = np.float32(1)
    y[i] = slm[i]


pattern = Pattern(
    "kernels", guide="none", lesson="All are shipped.", presets={"smoke": {"n": 64}, "default": {"n": 64}}
)


@pattern.problem
def arrays(rng, n):
    return Problem(
        x=rng.random(n, dtype=np.float32),
        counts=np.zeros(n, np.int32),
        big=np.zeros(3, np.uint8),
        y=output(n, np.float32),
    )


@pattern.reference
def expected(p):
    return {"y": p.x}


@pattern.naive
def every_kernel(session, p):
    items, groups = kapi.Range(p.n), kapi.NdRange((p.n,), (p.n,))
    for run in (ones, count, change_last):
        session.launch(run, items, {count: p.counts, change_last: p.big}.get(run, p.y))
    doubling = (double, double_all_but_one, double_even, double_for_ever, double_where_nan, halve_in_place)
    for run in (*doubling, much_work, sqrt):
        session.launch(run, items, p.x, p.y)
    session.launch(scale, groups, p.x, p.y, 2)
    session.launch(local, groups, p.y, kapi.LocalAccessor(p.n, np.float32))
