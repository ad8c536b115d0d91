"""Round the sizes of matrices up to whole cache lines before a library multiplies them."""

import dpnp
import numpy as np

from xebench import Claim, Figure, Pattern, Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="gemm_padded_size",
    catalogue=("E80",),
    guide="Math Library / Padding of Matrices Used in GEMM Computations",
    lesson="A library may multiply slightly larger matrices faster, if their rows then begin with a cache line.",
    presets={
        "smoke": {"n": (101, 64)},
        "default": {"n": {"cpu": 501, "gpu": 4001}},
        "guide": {"n": 6001},
    },
    own_sizes="half of the guide's 12001: the reference would take minutes",
    metric="wall",
    requires=("onemkl",),
)

LINE = 16  # float32 of a cache line of 64 bytes; the guide's doubles are 8


@pattern.problem
def whole_numbers(rng, n):
    a, b = rng.integers(0, 10, (2, n, n), dtype=np.uint8).astype(np.float32)
    return Problem(a=a, b=b, c=output((n, n), np.float32), bytes_moved=3 * 4 * n * n, operations=2 * n**3)


@pattern.reference
def expected(p):
    # exact in float32; doubles say that it has no error
    return {"c": (p.a @ p.b).astype(np.float64)}


@kernel
def cut_off(item: kapi.NdItem, padded, c):
    """Columns are dimension 0."""
    row, column = item.get_global_id(1), item.get_global_id(0)
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = padded[row, column]


@pattern.naive
def as_it_is(session, p):
    """The matrices as the problem has them."""
    return lambda: session.call(dpnp.matmul, p.a, p.b, out=p.c)


@pattern.optimized(
    claim=Claim(
        "faster",
        on=("gpu",),
        figure=Figure(
            0.2388 / 0.1648, line="G 11380 to 11386", metric="wall", device="Max", inferred="G 11374, 11858 to 11861"
        ),
    )
)
def rounded_up(session, p):
    """Zeros at the ends of rows and columns, which were there before; what counts of the product is cut out."""
    size = ceil_div(p.n, LINE) * LINE
    a, b, product = (session.alloc((size, size), np.float32) for _ in range(3))
    for padded, tight in ((a, p.host.a), (b, p.host.b)):
        whole = np.zeros((size, size), np.float32)
        whole[: p.n, : p.n] = tight
        session.copy(padded, whole)

    def timed():
        session.call(dpnp.matmul, a, b, out=product)
        session.launch(cut_off, kapi.NdRange((size, size), (LINE, LINE)), product, p.c)

    return timed
