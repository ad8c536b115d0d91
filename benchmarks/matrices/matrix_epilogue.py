"""Work on a tile of the matrix engine while a sub-group holds it, not in a kernel that reads the product again."""

import numpy as np

from xebench import Claim, Pattern, kernel
from xebench import kernel_api as kapi

from ..common import matrix_engine as engine

pattern = Pattern(
    name="matrix_epilogue",
    catalogue=("E56",),
    guide="Kernels / Programming Intel XMX Using SYCL Joint Matrix Extension",
    lesson="Scale the product tile by tile before it is written: a second kernel reads and writes all of it again.",
    # What joint_matrix_apply does in the guide is a factor in OpenCL C, whose kernels the engine's functions need.
    presets={
        "smoke": {"n": (256, 768), "depth": 128},
        # the shorter the rows that are multiplied, the more the second kernel weighs
        "default": {"n": {"cpu": 256, "gpu": 4096}, "depth": (256, 1024, 4096)},
        "guide": {"n": 4096, "depth": 4096},
    },
    own_sizes="the guide names no size",
    requires=("matrix_lanes=16",),
)

FACTOR = 2  # the guide's alpha
TALL, WIDE = 4, 2  # tiles of a sub-group


@kernel
def scale(item: kapi.Item, c):
    i, k = item.get_id(1), item.get_id(0)
    c[i, k] *= np.float32(FACTOR)


@pattern.problem
def whole_numbers(rng, n, depth):
    return engine.small_numbers(rng, n, depth)


@pattern.reference
def expected(p):
    return {"c": FACTOR * engine.product(p)}


def multiply(session, p, factor):
    on_engine = engine.multiply_on_engine(16, TALL, WIDE, factor=factor)
    session.launch(on_engine, engine.sub_groups(p.n, 16, TALL, WIDE), p.a, p.b, p.c, p.n, p.depth)


@pattern.naive
def in_second_kernel(session, p):
    """The product is written, and a second kernel multiplies each element by a factor."""
    multiply(session, p, 1)
    session.launch(scale, kapi.Range(p.n, p.n), p.c)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 5368, 5431"))
def in_the_tile(session, p):
    """Each sub-group multiplies its tiles before it writes them."""
    multiply(session, p, FACTOR)
