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
    # Rounding of a thousand additions hides that of the quotients, and another order may well be the more exact one.
    axes={"combine": ("sum", "largest")},
    rtol=1e-4,  # of a thousand additions
)


def add_quotients(item: kapi.Item, x, divisors, y):
    i = item.get_id(0)
    divisor, total = divisors[i], np.float32(0)
    for k in range(x.shape[0]):
        total += x[k] / divisor
    y[i] = total


def find_largest(item: kapi.Item, x, divisors, y):
    i = item.get_id(0)
    divisor, largest = divisors[i], np.float32(0)
    for k in range(x.shape[0]):
        largest = max(largest, x[k] / divisor)
    y[i] = largest


BODIES = {"sum": add_quotients, "largest": find_largest}
PRECISE = {name: kernel(body) for name, body in BODIES.items()}
FAST = {name: kernel(fast_math=True)(body) for name, body in BODIES.items()}


@pattern.problem
def quotients(rng, n, terms, combine):
    return Problem(
        x=rng.uniform(0.5, 1, terms).astype(np.float32),
        divisors=rng.uniform(1, 2, n).astype(np.float32),
        y=output(n, np.float32),
    )


@pattern.reference
def expected(p):
    x = p.x.astype(np.float64)
    return {"y": (x.sum() if p.combine == "sum" else x.max()) / p.divisors.astype(np.float64)}


@pattern.naive(
    claim=Claim("accurate", against="fast", where={"combine": "largest"}, strength="implied", source="G 8662, 8666")
)
def precise(session, p, combine):
    """A division for each term, and the terms added one after the other, or the largest quotient taken."""
    session.launch(PRECISE[combine], kapi.Range(p.n), p.x, p.divisors, p.y)


@pattern.optimized(
    claim=(
        Claim("faster", source="G 8662 to 8666"),
        Claim("instructions", on=("gpu",), strength="implied", source="G 8662"),
    )
)
def fast(session, p, combine):
    """The compiler may multiply by a reciprocal, and add in any order."""
    session.launch(FAST[combine], kapi.Range(p.n), p.x, p.divisors, p.y)
