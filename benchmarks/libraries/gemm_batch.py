"""Hand a library many small products of matrices in one call, not in one call each."""

import dpnp

from xebench import Claim, Figure, Pattern

from ..common import matrix_products

pattern = Pattern(
    name="gemm_batch",
    catalogue=("E78",),
    guide="Math Library / Batching of oneMKL GEMM Calls",
    lesson="A batch of products is one call: it fills the device, and its fixed cost is paid once.",
    presets={
        "smoke": {"m": (32, 31), "k": 8, "n": 16},
        "default": {"m": {"cpu": 160, "gpu": 500}, "k": {"cpu": 16, "gpu": 50}, "n": {"cpu": 80, "gpu": 250}},
        "guide": {"m": 2000, "k": 200, "n": 1000},
    },
    axes={"products": (2, 8, 32)},  # the guide's two; and more, since it says that more is better
    metric="wall",  # the library's time on the host counts
    requires=("onemkl",),
)

pattern.problem(matrix_products.several)
pattern.reference(matrix_products.multiplied)


@pattern.naive
def call_for_each(session, p):
    """A call for each product, and the host waits for each, as in the guide."""
    products = matrix_products.parts(p)

    def timed():
        for a, b, c in products:
            session.call(dpnp.matmul, a, b, out=c)
            session.wait()  # dpnp of the current stack does not

    return timed


@pattern.intermediate
def batches_of_two(session, p):
    """A call for every two products: with two, all of them."""
    pairs = [tuple(array[first : first + 2] for array in (p.a, p.b, p.c)) for first in range(0, p.products, 2)]

    def timed():
        for a, b, c in pairs:
            session.call(dpnp.matmul, a, b, out=c)
            session.wait()

    return timed


@pattern.optimized(
    claim=(
        # the guide's seconds hold the copies and the first call's preparations
        Claim(
            "faster",
            on=("gpu",),
            where={"products": 2},
            figure=Figure(
                2.976183 / 1.881641, line="G 10497 to 10498", device="Max", inferred="G 10493, 11858 to 11861"
            ),
        ),
        Claim("faster", on=("gpu",), where={"products": (8, 32)}, strength="implied", source="G 10083"),
        Claim("faster", against="batches_of_two", on=("gpu",), where={"products": (8, 32)}, source="G 10083"),
    )
)
def one_batch(session, p):
    """One call: dpnp makes oneMKL's batched GEMM of arrays of three dimensions."""
    return lambda: session.call(dpnp.matmul, p.a, p.b, out=p.c)
