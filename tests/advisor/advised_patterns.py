"""A pattern whose baseline reads a matrix across its rows."""

import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern("read_across", lesson="Read along rows.", presets={"smoke": {"n": 64}, "default": {"n": 64}})


@pattern.problem
def make(numbers, n):
    return Problem(x=numbers.random((n, n), dtype=np.float32), out=output((n, n), np.float32))


@pattern.reference
def expected(p):
    return {"out": p.x * np.float32(2)}


@kernel
def across(item: kapi.Item, x, out):
    i, j = item.get_id(0), item.get_id(1)
    out[i, j] = x[i, j] * np.float32(2)


@pattern.naive
def columns(session, p):
    """Across."""
    session.launch(across, kapi.Range(p.n, p.n), p.x, p.out)


@kernel
def along(item: kapi.Item, x, out):
    i, j = item.get_id(1), item.get_id(0)
    out[i, j] = x[i, j] * np.float32(2)


@pattern.optimized
def rows(session, p):
    """Along."""
    session.launch(along, kapi.Range(p.n, p.n), p.x, p.out)
