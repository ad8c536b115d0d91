"""Call a library for independent products without waiting in between.

The guide has a host thread for each call, or calls that do not wait. oneMKL's GEMM returns at once, as the latter.
"""

from concurrent.futures import ThreadPoolExecutor

from xebench import Claim, Pattern

from ..common import matrix_products, onemkl

pattern = Pattern(
    name="gemm_consecutive",
    catalogue=("E79",),
    guide="Math Library / Speeding Up Independent, Consecutive GEMM Calls",
    lesson="Calls that do not need each other are submitted together and waited for once.",
    presets={
        "smoke": {"m": (32, 31), "k": 8, "n": 16, "products": 2},
        "default": {
            "m": {"cpu": 160, "gpu": 500},
            "k": {"cpu": 16, "gpu": 50},
            "n": {"cpu": 80, "gpu": 250},
            "products": 2,
        },
        "guide": {"m": 2000, "k": 200, "n": 1000, "products": 2},
    },
    metric="wall",
    requires=("onemkl",),
)

pattern.problem(matrix_products.several)
pattern.reference(matrix_products.multiplied)


@pattern.naive
def wait_after_each(session, p):
    """Each call is over before the next is made."""
    products = matrix_products.parts(p)

    def timed():
        for a, b, c in products:
            session.call(onemkl.gemm, a, b, c)
            session.wait()

    return timed


@pattern.intermediate(claim=Claim("faster", on=("gpu",), source="G 10962"))
def wait_once(session, p):
    """One queue in order: the host does not wait, but the products follow one another."""
    products = matrix_products.parts(p)

    def timed():
        for a, b, c in products:
            session.call(onemkl.gemm, a, b, c)

    return timed


# Against each other the guide compares none of its ways: that is ours.
@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 10776 to 10778"),
        Claim("faster", against="wait_once", on=("gpu",)),
    )
)
def queue_for_each(session, p):
    """A queue for each product: they may also run at the same time."""
    products = [(session.new_queue(), *arrays) for arrays in matrix_products.parts(p)]

    def timed():
        for queue, a, b, c in products:
            session.call(onemkl.gemm, a, b, c, queue=queue)

    return timed


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), source="G 10776 to 10778"),
        Claim("faster", against="wait_once", on=("gpu",)),
    )
)
def thread_for_each(session, p):
    """A host thread for each product, with a queue of its own: a call that waits keeps none of the others waiting."""
    products = [(session.new_queue(), *arrays) for arrays in matrix_products.parts(p)]
    threads = ThreadPoolExecutor(len(products))

    def multiply(product):
        queue, a, b, c = product
        session.call(onemkl.gemm, a, b, c, queue=queue)

    multiply(products[0])  # the first call of a library's function must not be made by several threads

    def timed():
        list(threads.map(multiply, products))

    return timed
