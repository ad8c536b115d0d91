"""Fast mathematics may reorder sums and turn divisions into products: faster, and less exact."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="fast_math_arithmetic",
    catalogue=("E76",),
    guide="Accuracy Versus Performance Tradeoffs / -fp-model",
    lesson="Precise arithmetic keeps sums in order and divides; fast arithmetic may add in any order, by reciprocals.",
    presets={
        "smoke": {"n": (1 << 8, 251), "terms": 64},
        "default": {"n": {"cpu": 1 << 12, "gpu": fit(1 << 18, per_lane=4)}, "terms": 1024},
        "guide": {"n": 1 << 20, "terms": 1024},
    },
    own_sizes="the guide describes the options without a program",
    rtol=1e-4,  # of a thousand additions
)


def add_quotients(item: kapi.Item, x, divisors, y):
    i = item.get_id(0)
    divisor, total = divisors[i], np.float32(0)
    for k in range(x.shape[0]):
        total += x[k] / divisor
    y[i] = total


precise_kernel = kernel(add_quotients)
fast_kernel = kernel(fast_math=True)(add_quotients)


@pattern.problem
def quotients(rng, n, terms):
    return Problem(
        x=rng.uniform(0.5, 1, terms).astype(np.float32),
        divisors=rng.uniform(1, 2, n).astype(np.float32),
        y=output(n, np.float32),
    )


@pattern.reference
def expected(p):
    return {"y": p.x.astype(np.float64).sum() / p.divisors.astype(np.float64)}


@pattern.naive(claim=Claim("accurate", against="fast", strength="implied", source="G 8662, 8666"))
def precise(session, p):
    """A division for each term, and the terms added one after the other."""
    session.launch(precise_kernel, kapi.Range(p.n), p.x, p.divisors, p.y)


@pattern.optimized(
    claim=(
        Claim("faster", source="G 8662 to 8666"),
        Claim("instructions", on=("gpu",), strength="implied", source="G 8662"),
    )
)
def fast(session, p):
    """The compiler may multiply by a reciprocal, and add in any order."""
    session.launch(fast_kernel, kapi.Range(p.n), p.x, p.divisors, p.y)
