"""Multiply matrices on several devices: cut one factor, and copy the other to all of them."""

import dpnp
import numpy as np

from xebench import Claim, Pattern
from xebench import kernel_api as kapi

from ..common import parts, square_matmul
from ..common.square_matmul import TILE

pattern = Pattern(
    name="matmul_devices",
    catalogue=("E87", "mkl_gemm_split_devices"),
    guide="Multiple Stacks / Scaling oneMKL in SYCL",
    lesson="Cut one factor and the product, copy the other factor to every device: none needs another's results.",
    presets={
        "smoke": {"n": (64, 7 * 16)},
        "default": {"n": {"cpu": 256, "gpu": 4096}},
        "guide": {"n": 8192},
    },
    axes={"devices": (2,)},
    metric="wall",
)


@pattern.problem
def whole_numbers(rng, n):
    return square_matmul.whole_numbers(rng, n, np.float32, host=True)


pattern.reference(square_matmul.product)


def product_on(session, p, queues, multiply):
    """A sample: each queue's device computes its rows of the product, and sends them to the host.

    The guide cuts columns, which lie together there as rows do here.

    Args:
        queues: one for each part. Both factors are on the devices before the clock starts.
        multiply: called with a queue, rows of the one factor, the other factor, and the rows of the product.
    """
    rows = []
    for queue, tiles in zip(queues, parts.slices(p.n // TILE, [1] * len(queues)), strict=True):
        where = slice(tiles.start * TILE, tiles.stop * TILE)
        a, b = parts.upload(session, queue, p.host.a[where], p.host.b)
        rows.append((queue, where, a, b, session.alloc(a.shape, a.dtype, queue=queue)))

    def sample():
        for queue, _where, a, b, c in rows:
            multiply(queue, a, b, c)
        for queue, where, _a, _b, c in rows:
            session.copy(p.c[where], c, queue=queue)

    return sample


def by_tiles(session):
    """Multiply by a kernel with tiles in SLM, which any number of devices can work at at the same time."""
    kernel = square_matmul.tiles_in_slm_of(np.float32)
    tile_a, tile_b = (kapi.LocalAccessor((TILE, TILE), np.float32) for _ in range(2))

    def multiply(queue, a, b, c):
        space = kapi.NdRange((c.shape[1], c.shape[0]), (TILE, TILE))
        session.launch(kernel, space, a, b, c, tile_a, tile_b, queue=queue)

    return multiply


def by_library(session):
    """Multiply by dpnp.matmul, which is oneMKL's gemm."""
    return lambda queue, a, b, c: session.call(dpnp.matmul, a, b, out=c, queue=queue)


@pattern.naive
def tiles_on_one_device(session, p, devices):
    """A kernel of our own on one device."""
    return product_on(session, p, session.queues_on(devices)[:1], by_tiles(session))


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 18731"))  # its 2x is the library's
def tiles_on_every_device(session, p, devices):
    """The same kernel on each device, for its part of the product."""
    return product_on(session, p, session.queues_on(devices), by_tiles(session))


@pattern.baseline
def library_on_one_device(session, p, devices):
    """The library on one device."""
    return product_on(session, p, session.queues_on(devices)[:1], by_library(session))


# The guide's library returns at once; dpnp 0.15 waits for the product. So this shows what waiting costs, and the
# guide's claim is asked of our own kernel.
@pattern.baseline
def library_on_one_after_another(session, p, devices):
    """The library on each device: it returns when a part is computed, so they take turns."""
    return product_on(session, p, session.queues_on(devices), by_library(session))
