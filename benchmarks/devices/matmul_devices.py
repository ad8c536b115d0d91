"""Multiply matrices by oneMKL on several devices: cut one factor, and copy the other to all of them."""

import dpnp
import numpy as np

from xebench import Claim, Figure, Pattern, Problem, output

from ..common import onemkl, parts, square_matmul, staying_parts

pattern = Pattern(
    name="matmul_devices",
    catalogue=("E87", "mkl_gemm_split_devices"),
    guide="Multiple Stacks / Scaling oneMKL in SYCL",
    lesson="Cut one factor and the product, copy the other factor to every device: none needs another's results.",
    presets={
        "smoke": {"n": (64, 7 * 16)},
        "default": {"n": {"cpu": 512, "gpu": 4096}},
        "guide": {"n": 8192},
    },
    # the whole program with the way of the product to the host, or the products alone
    axes={"devices": (2,), "data": ("copied", "stays")},
    metric="wall",
    requires=("onemkl", "several_devices"),
)


@pattern.problem
def whole_numbers(rng, n, data):
    p = square_matmul.whole_numbers(rng, n, np.float32, host=True)
    return p if data == "copied" else Problem(a=p.a, b=p.b, sums=output(staying_parts.SUMS, np.int32, host=True))


@pattern.reference
def expected(p):
    product = square_matmul.product(p)
    return product if p.data == "copied" else {"sums": staying_parts.folded(product["c"].ravel())}


def product_on(session, p, queues):
    """A sample: each queue's device computes its rows of the product.

    The guide cuts columns, which lie together there as rows do here. Both factors are on the devices before the clock
    starts.
    """
    rows = []
    for queue, where in zip(queues, parts.slices(p.n, [1] * len(queues)), strict=True):
        a, b = parts.upload(session, queue, p.host.a[where], p.host.b)
        rows.append((queue, where, a, b, session.alloc(a.shape, a.dtype, queue=queue)))
    session.wait()

    def to_host():
        for queue, where, _a, _b, c in rows:
            session.copy(p.c[where], c, queue=queue)

    results = [(queue, where.start * p.n, dpnp.asarray(c).reshape(-1)) for queue, where, _a, _b, c in rows]
    finish = to_host if p.data == "copied" else staying_parts.folder(session, p, results)

    def sample():
        for queue, _where, a, b, c in rows:
            session.call(onemkl.gemm, a, b, c, queue=queue)  # returns at once
        finish()

    return sample


@pattern.naive
def one_device(session, p, devices):
    """The library on one device."""
    return product_on(session, p, session.queues_on(devices)[:1])


# The guide's clock is not shown; its words are of the products.
@pattern.optimized(
    claim=(
        Claim("faster", where={"data": "stays"}, on=("gpu",), figure=Figure(2.0, line="G 18731")),
        Claim("faster", where={"data": "copied"}, on=("gpu",), strength="implied", source="G 18731"),
    )
)
def every_device(session, p, devices):
    """The library on each device, for its part of the product."""
    return product_on(session, p, session.queues_on(devices))
