"""Keep intermediate data on the device, then do without it: fuse the kernels that pass it on."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="kernel_fusion",
    catalogue=("E64",),
    guide="Host/Device Memory, Buffer and USM / Avoiding Moving Data Back and Forth between Host and Device",
    lesson="A step on the host costs two transfers, a kernel of its own a pass over memory, a fused one nothing.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        # the six arrays together at least four times as large as the last cache
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 22, bytes_each=12)}},
        "guide": {"n": 10 << 20},  # of the guide's published program
    },
    axes={"work_group_size": (256,)},
    metric="wall",
)

LIMIT = 10


@kernel
def add(item: kapi.NdItem, a, b, total):
    i = item.get_global_id(0)
    if i < total.shape[0]:
        total[i] = a[i] + b[i]


@kernel
def clip(item: kapi.NdItem, total):
    i = item.get_global_id(0)
    if i < total.shape[0]:
        total[i] = np.int32(1) if total[i] > LIMIT else np.int32(0)


@kernel
def add_and_clip(item: kapi.NdItem, a, b, total):
    i = item.get_global_id(0)
    if i < total.shape[0]:
        total[i] = np.int32(1) if a[i] + b[i] > LIMIT else np.int32(0)


@kernel
def scale_and_shift(item: kapi.NdItem, total, c, d, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = total[i] * c[i] + d[i]


@kernel
def everything(item: kapi.NdItem, a, b, c, d, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = c[i] + d[i] if a[i] + b[i] > LIMIT else d[i]


@pattern.problem
def four_arrays(rng, n):
    a, b, c, d = (rng.integers(0, 11, n, dtype=np.int32) for _ in range(4))
    return Problem(a=a, b=b, c=c, d=d, y=output(n, np.int32), bytes_moved=5 * 4 * n)


@pattern.reference
def expected(p):
    return {"y": np.where(p.a + p.b > LIMIT, p.c, 0) + p.d}


def all_items(p, work_group_size):
    return kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))


@pattern.naive
def through_the_host(session, p, work_group_size):
    """The sums come to the host, are clipped there, and go back."""
    space = all_items(p, work_group_size)
    total = session.alloc(p.n, np.int32)
    host = np.empty(p.n, np.int32)

    def timed():
        session.launch(add, space, p.a, p.b, total)
        session.copy(host, total)
        session.wait()
        np.greater(host, LIMIT, out=host)
        session.copy(total, host)
        session.launch(scale_and_shift, space, total, p.c, p.d, p.y)

    return timed


@pattern.intermediate(claim=Claim("faster", source="G 6744 to 6815"))
def three_kernels(session, p, work_group_size):
    """A kernel between the two others clips the sums where they are."""
    space = all_items(p, work_group_size)
    total = session.alloc(p.n, np.int32)

    def timed():
        session.launch(add, space, p.a, p.b, total)
        session.launch(clip, space, total)
        session.launch(scale_and_shift, space, total, p.c, p.d, p.y)

    return timed


@pattern.intermediate(claim=Claim("faster", against="three_kernels", source="G 6885"))
def clip_fused(session, p, work_group_size):
    """The first kernel clips what it adds; the second reads it."""
    space = all_items(p, work_group_size)
    total = session.alloc(p.n, np.int32)

    def timed():
        session.launch(add_and_clip, space, p.a, p.b, total)
        session.launch(scale_and_shift, space, total, p.c, p.d, p.y)

    return timed


@pattern.optimized(
    claim=(
        Claim("faster", strength="implied", source="G 6744 to 6949"),
        Claim("faster", against="clip_fused", source="G 6949"),
    )
)
def all_fused(session, p, work_group_size):
    """One kernel, and no array in between."""
    session.launch(everything, all_items(p, work_group_size), p.a, p.b, p.c, p.d, p.y)


in_opencl(pattern, all_fused)
