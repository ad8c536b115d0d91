"""Keep matrices on the device between calls of a library."""

import dpnp
import numpy as np

from xebench import Claim, Pattern, Problem, output

pattern = Pattern(
    name="gemm_resident",
    catalogue=("E77",),
    guide="Math Library / Using OpenMP Directives to Offload oneMKL Computations",
    lesson="A library computes where its arrays are: bring them there once, not for each call.",
    presets={
        "smoke": {"n": (64, 61), "k": 16, "steps": 2},
        "default": {"n": {"cpu": 384, "gpu": 1000}, "k": {"cpu": 64, "gpu": 200}, "steps": 4},
        "guide": {"n": 2000, "k": 200, "steps": 4},
    },
    own_sizes="the guide multiplies 2000 x 200 by 200 x 1000, once",
    metric="wall",
    requires=("onemkl",),
)


@pattern.problem
def repeated_product(rng, n, k, steps):
    """Each product is a factor of the next; a permutation keeps the numbers small, which a library does not know."""
    matrix = np.zeros((n, n), np.float32)
    matrix[np.arange(n), rng.permutation(n)] = 1
    return Problem(
        matrix=matrix,
        start=rng.integers(0, 128, (n, k), dtype=np.uint8).astype(np.float32),
        result=output((n, k), np.float32, host=True),
        bytes_moved=4 * (n * n + 2 * n * k),
        operations=2 * steps * n * n * k,
        host_bytes=4 * (n * n + 2 * n * k),
    )


@pattern.reference
def expected(p):
    result = p.start
    for _ in range(p.steps):
        result = p.matrix @ result
    return {"result": result}


@pattern.baseline
def on_host(session, p):
    """No device: numpy."""

    def timed():
        result = p.host.start
        for _ in range(p.steps):
            result = p.host.matrix @ result
        p.result[...] = result

    return timed


def arrays_of(session, p):
    """Device memory for the matrix, a factor and a product."""
    shapes = (p.n, p.n), (p.n, p.k), (p.n, p.k)
    return [session.alloc(shape, np.float32) for shape in shapes]


@pattern.naive
def copied_for_each_call(session, p):
    """A call with arrays of the host: in, multiply, out."""
    matrix, factor, product = arrays_of(session, p)

    def timed():
        p.result[...] = p.host.start
        for _ in range(p.steps):
            session.copy(matrix, p.host.matrix)
            session.copy(factor, p.result)
            session.call(dpnp.matmul, matrix, factor, out=product)
            session.copy(p.result, product)
            session.wait()

    return timed


# The guide names no gain: it maps the arrays before the calls (G 9630).
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 9630"))
def resident(session, p):
    """In once, all products, out once."""
    matrix, factor, product = arrays_of(session, p)

    def timed():
        session.copy(matrix, p.host.matrix)
        session.copy(factor, p.host.start)
        source, target = factor, product
        for _ in range(p.steps):
            session.call(dpnp.matmul, matrix, source, out=target)
            source, target = target, source
        session.copy(p.result, source)

    return timed
