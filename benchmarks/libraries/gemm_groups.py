"""Hand a library products of several shapes in one call: a batch is made of groups, each of one shape."""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common import onemkl

pattern = Pattern(
    name="gemm_groups",
    catalogue=("mkl_batch_gemm_groups",),
    guide="Math Library / Batching of oneMKL GEMM Calls",
    lesson="A call for each shape still leaves the device to small batches; groups of shapes are one call as well.",
    # The guide draws three shapes up to 20, and up to 10 products of each (G 10502). Here they are fixed.
    presets={
        "smoke": {"largest": (8, 7), "products": 3},
        "default": {"largest": {"cpu": 20, "gpu": 64}, "products": {"cpu": 10, "gpu": 64}},
        "guide": {"largest": 20, "products": 10},
    },
    metric="wall",  # the library's time on the host counts
    requires=("onemkl", "usm_host"),  # tables of sizes and addresses are in host USM
)

GROUPS = "first", "second", "third"


def shapes(largest):
    """Rows, columns and the length of the sums of each group's products."""
    half, quarter = largest // 2, largest // 4
    return (largest, largest, half), (half, quarter, largest), (quarter, largest, largest)


def field(p, group, matrix):
    return getattr(p, f"{group}_{matrix}")


@pattern.problem
def small_numbers(rng, largest, products):
    if largest < 4:
        raise ValueError(f"largest={largest}: the third shape is a quarter of it, so give at least 4")
    fields, elements, operations = {}, 0, 0
    for name, (m, n, k) in zip(GROUPS, shapes(largest), strict=True):
        # whole numbers: every sum is exact in float32, in whatever order it is formed
        fields[f"{name}_a"] = rng.integers(0, 10, (products, m, k)).astype(np.float32)
        fields[f"{name}_b"] = rng.integers(0, 10, (products, k, n)).astype(np.float32)
        fields[f"{name}_c"] = output((products, m, n), np.float32)
        elements += products * (m * k + k * n + m * n)
        operations += 2 * products * m * n * k
    return Problem(**fields, bytes_moved=4 * elements, operations=operations)


@pattern.reference
def expected(p):
    # exact in float32; doubles say that it has no error
    return {f"{name}_c": (field(p, name, "a") @ field(p, name, "b")).astype(np.float64) for name in GROUPS}


def groups(p):
    """Factors and product of each group."""
    return [tuple(field(p, name, matrix) for matrix in "abc") for name in GROUPS]


# A sample is one `session.call`, however often it calls the library: bracketing each would take longer than a product.
@pattern.naive
def call_for_each_product(session, p, products):
    """A call for each product, and the host waits once."""
    of_product = [tuple(array[i] for array in group) for group in groups(p) for i in range(products)]

    def multiply_each():
        for a, b, c in of_product:
            onemkl.gemm(a, b, c)

    return lambda: session.call(multiply_each)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 10083"))
def batch_for_each_shape(session, p):
    """Three calls, of which each has a batch of one group."""
    batches = [onemkl.grouped_gemm([group]) for group in groups(p)]

    def multiply_groups():
        for batch in batches:
            batch()

    return lambda: session.call(multiply_groups)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 10083"),
        Claim("faster", against="batch_for_each_shape", on=("gpu",), strength="implied", source="G 10079 to 10083"),
    )
)
def one_batch_of_groups(session, p):
    """One call, whose batch has all three groups."""
    batch = onemkl.grouped_gemm(groups(p))
    return lambda: session.call(batch)
