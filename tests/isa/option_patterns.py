"""A pattern whose variants differ in what they ask of the compiler, not in their kernel."""

from __future__ import annotations

import numpy as np

from numba_sycl import kernel
from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

pattern = Pattern(
    "register_modes",
    guide="Tests / Of the collector",
    lesson="The large register file halves the threads.",
    presets={"smoke": {"n": 1 << 14}, "default": {"n": 1 << 14}},
)


def ones(item, y):
    y[item.get_global_id(0)] = np.float32(1)


small = kernel(sub_group_size=16)(ones)
large = kernel(sub_group_size=16, large_grf=True)(ones)


@pattern.problem
def vector(rng, n):
    return Problem(y=output(n, np.float32), bytes_moved=4 * n, operations=0)


@pattern.reference
def expected(p):
    return {"y": np.ones(p.n, np.float32)}


@pattern.naive
def small_file(session, p):
    session.launch(small, kapi.NdRange((p.n,), (64,)), p.y)


@pattern.optimized
def large_file(session, p):
    session.launch(large, kapi.NdRange((p.n,), (64,)), p.y)


@pattern.optimized
def both(session, p):
    small_file(session, p)
    large_file(session, p)
