"""Where native mathematics is wrong: the logarithm of numbers near one, in few correct digits."""

import math

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import native

pattern = Pattern(
    name="native_log_near_one",
    catalogue=("E76",),
    guide="Accuracy Versus Performance Tradeoffs / The log Function",
    lesson="A native function has no promised accuracy: near one, an error of a millionth is most of a logarithm.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 21, "gpu": fit(1 << 24, bytes_each=8)}},
        "guide": {"n": 64 << 20},
    },
    own_sizes="the guide has so many elements, but begins with 2 in all of them",
    axes={"work_group_size": (256,)},
    # OpenCL allows log 3 units in the last place, of 2**-23 each: the precise variants must keep that.
    rtol=3 * 2**-23,
)


def log_precisely(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = math.log(x[i])


@kernel
def log_natively(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = native.log(x[i])


@kernel
def log_in_double(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = np.float32(math.log(np.float64(x[i])))


precise_kernel = kernel(log_precisely)
relaxed_kernel = kernel(relaxed_math=True)(log_precisely)


@pattern.problem
def near_one(rng, n):
    """From 1.0001 to 1.01; one itself has the logarithm 0, which is right everywhere."""
    x = rng.uniform(1.0001, 1.01, n).astype(np.float32)
    return Problem(x=x, y=output(n, np.float32), bytes_moved=2 * 4 * n)


@pattern.reference
def expected(p):
    return {"y": np.log(p.x.astype(np.float64))}


def launch(session, p, work_group_size, log):
    items = ceil_div(p.n, work_group_size) * work_group_size
    session.launch(log, kapi.NdRange((items,), (work_group_size,)), p.x, p.y)


@pattern.naive(claim=Claim("accurate", against="native_log", on=("gpu",), strength="implied", source="G 8674"))
def precise(session, p, work_group_size):
    """OpenCL's log."""
    launch(session, p, work_group_size, precise_kernel)


@pattern.antipattern(claim=Claim("wrong", on=("gpu",), strength="implied", source="G 8674"))
def native_log(session, p, work_group_size):
    """The device's own approximation."""
    launch(session, p, work_group_size, log_natively)


@pattern.antipattern(claim=Claim("wrong", on=("gpu",), strength="implied", source="G 8674 to 8676"))
def relaxed_math(session, p, work_group_size):
    """-cl-fast-relaxed-math: the same approximation, for which nobody asked at this place."""
    launch(session, p, work_group_size, relaxed_kernel)


@pattern.optimized(requires=("fp64",), claim=(Claim("same", on=("gpu",)), Claim("accurate")))
def double(session, p, work_group_size):
    """In double precision, and rounded once: while the memory is waited for, it costs little."""
    launch(session, p, work_group_size, log_in_double)
