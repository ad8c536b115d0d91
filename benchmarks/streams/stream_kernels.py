"""Copy, scale, add and triad: kernels without reuse, whose rate is that of the memory and nothing else."""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="stream_kernels",
    catalogue=("E91", "stream_roofline"),
    guide="Intel Advisor / Big Data Array with Data Reuse for a STREAM Benchmark",
    lesson="A stream runs at the rate of the farthest memory, and the faster, the more of it are reads.",
    # Look at the fraction of the roof, too: on an Iris Xe MAX the guide saw 88 % of the theoretical one (G 21701).
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        # the two arrays of a copy are together at least four times as large as the last cache
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 25, bytes_each=16)}},
        "guide": {"n": 1 << 27},
    },
    own_sizes="the guide names no size; its kernels move over 100 GB in all",
    axes={"work_group_size": (256,)},
)

FACTOR = 3
TRAVERSALS = 6  # of an array by each variant: three copies pass over as many bytes as two additions
# GB/s on Tiger Lake, of which the guide names no product (G 21671 to 21674). That reads are faster it says of that
# system (G 21665), so of others it is implied.
COPY, SCALE, ADD, TRIAD = 37.885, 37.837, 39.589, 39.630
SAME = 0.02  # less than half of the difference between copy and add, which the guide calls slight


@kernel
def copy_elements(item: kapi.NdItem, a, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = a[i]


@kernel
def scale_elements(item: kapi.NdItem, a, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = np.float32(FACTOR) * a[i]


@kernel
def add_elements(item: kapi.NdItem, a, b, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = a[i] + b[i]


@kernel
def add_scaled(item: kapi.NdItem, a, b, y):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = a[i] + np.float32(FACTOR) * b[i]


@pattern.problem
def equal_results(rng, n):
    """All four kernels give the same array: ``whole = 3 * third = part + rest = part + 3 * third_of_rest``."""
    # small whole numbers: exact in float32
    third, third_of_rest = (FACTOR * rng.integers(0, 128, n, dtype=np.uint8).astype(np.float32) for _ in range(2))
    whole = FACTOR * third
    rest = FACTOR * third_of_rest
    return Problem(
        whole=whole,
        third=third,
        part=whole - rest,
        rest=rest,
        third_of_rest=third_of_rest,
        y=output(n, np.float32),
        bytes_moved=TRAVERSALS * 4 * n,
    )


@pattern.reference
def expected(p):
    return {"y": p.whole}


def launch(session, p, work_group_size, stream, *arrays):
    """The kernel as many times as make up the traversals."""
    items = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))
    for _ in range(TRAVERSALS // (len(arrays) + 1)):
        session.launch(stream, items, *arrays, p.y)


def implied(word, ratio, lines, against=""):
    within = SAME if word == "same" else 0
    figure = Figure(ratio, line=lines)
    return Claim(word, against=against, within=within, on=("gpu",), strength="implied", figure=figure)


@pattern.naive
def copy(session, p, work_group_size):
    """``y = a``: as many reads as writes."""
    launch(session, p, work_group_size, copy_elements, p.whole)


@pattern.intermediate(claim=implied("same", SCALE / COPY, "G 21665 to 21672"))
def scale(session, p, work_group_size):
    """``y = 3 * a``: the multiplication hides behind the memory."""
    launch(session, p, work_group_size, scale_elements, p.third)


@pattern.optimized(claim=implied("faster", ADD / COPY, "G 21665 to 21673"))
def add(session, p, work_group_size):
    """``y = a + b``: twice as many reads as writes."""
    launch(session, p, work_group_size, add_elements, p.part, p.rest)


@pattern.optimized(
    claim=(
        implied("faster", TRIAD / COPY, "G 21665 to 21674"),
        implied("same", TRIAD / ADD, "G 21665 to 21674", against="add"),
    )
)
def triad(session, p, work_group_size):
    """``y = a + 3 * b``: as many bytes as an addition, and one operation more."""
    launch(session, p, work_group_size, add_scaled, p.part, p.third_of_rest)


in_opencl(pattern, triad)
