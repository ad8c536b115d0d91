"""Compute engines of a stack (CCS): small kernels side by side, each on a part of the stack, or one after another.

The guide's program multiplies two matrices on each engine. At its size each product fills a stack; what it says of
small kernels is asked of products of few elements, which take as long.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, output
from xebench import kernel_api as kapi

from ..common import parts, square_matmul

pattern = Pattern(
    name="ccs_modes",
    catalogue=("E88", "ccs_matmul", "ccs_flat_init", "ja_cslice_four_small_kernels"),
    guide="Multiple Stacks / Compute Command Streamers",
    lesson="Kernels too small for a stack run side by side when the stack shows several engines, each with its part.",
    presets={
        "smoke": {"n": (128, 96), "k": 61},
        # 16 work-groups, each of which fills a core: a quarter of a stack of the Max has as many
        "default": {"n": 128, "k": 1 << 16},
        "guide": {"n": 5280, "k": 5280},
    },
    metric="wall",
    requires=("intel_gpu",),
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "FLAT"},  # the device is a stack
)

PRODUCTS = 4  # as many as a stack has engines
# The runtime cuts a stack into its engines where the stack is a part of a card (COMPOSITE), as in the guide's program,
# and where one of these names, of new drivers and old ones, says so.
SLICES = {
    "ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE",
    "UR_L0_EXPOSE_CSLICE_IN_AFFINITY_PARTITIONING": "1",
    "SYCL_PI_LEVEL_ZERO_EXPOSE_CSLICE_IN_AFFINITY_PARTITIONING": "1",
}
GROUP = 32  # rows and columns of a work-group
SMALL_KERNELS = Claim("faster", where={"n": 128}, on=("gpu",), strength="implied", source="G 19394")
multiply = square_matmul.sum_in_register_of(np.float32)


@pattern.problem
def two_matrices(rng, n, k):
    """Small whole numbers: every sum is exact in float32."""
    if n % GROUP:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {GROUP}")
    a, b = (rng.integers(0, 10, shape, dtype=np.uint8).astype(np.float32) for shape in ((n, k), (k, n)))
    return Problem(
        a=a,
        b=b,
        c=output((PRODUCTS, n, n), np.float32, host=True),
        operations=PRODUCTS * 2 * n * n * k,
        operation_kind="fp32",
    )


@pattern.reference
def expected(p):
    return {"c": np.broadcast_to(p.a @ p.b, (PRODUCTS, p.n, p.n))}


def products_on(session, p, queues):
    """A sample: the queues take the products in turn, each with matrices of its own, and send them to the host."""
    products = []
    for number in range(PRODUCTS):
        queue = queues[number % len(queues)]
        a, b = parts.upload(session, queue, p.host.a, p.host.b)
        products.append((queue, a, b, session.alloc((p.n, p.n), np.float32, queue=queue)))
    space = kapi.NdRange((p.n, p.n), (GROUP, GROUP))

    def sample():
        for queue, a, b, c in products:
            session.launch(multiply, space, a, b, c, queue=queue)
        for target, (queue, _a, _b, c) in zip(p.c, products, strict=True):
            session.copy(target, c, queue=queue)

    return sample


@pattern.naive(environment={"ZEX_NUMBER_OF_CCS": "0:1"})
def one_engine(session, p):
    """The default: one engine with all of the stack, and four queues for it."""
    return products_on(session, p, [session.new_queue() for _ in range(PRODUCTS)])


# A queue of the stack itself would be one of its first engine. Where the mode did not take, the variant is skipped with
# that reason.
@pattern.optimized(claim=SMALL_KERNELS, environment={"ZEX_NUMBER_OF_CCS": "0:2", **SLICES})
def two_engines(session, p):
    """A queue for each half of the stack."""
    return products_on(session, p, session.queues_on(2, kind="engines"))


@pattern.optimized(claim=SMALL_KERNELS, environment={"ZEX_NUMBER_OF_CCS": "0:4", **SLICES})
def four_engines(session, p):
    """A queue for each quarter of the stack."""
    return products_on(session, p, session.queues_on(4, kind="engines"))
