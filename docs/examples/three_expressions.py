"""Three ways to write a * x + y with dpnp: python docs/examples/three_expressions.py [ELEMENTS] [SECONDS]."""

import sys

import xebench

session = xebench.open_session()  # before anything is taken out of dpnp

import dpnp  # noqa: E402
import numpy as np  # noqa: E402

ELEMENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 22
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0


def make_arrays(session):
    """Made again for every instance: what a function gets."""
    x = dpnp.full(ELEMENTS, 3, dtype=np.float32, sycl_queue=session.queue)
    y = dpnp.full(ELEMENTS, 4, dtype=np.float32, sycl_queue=session.queue)
    return x, y, dpnp.empty_like(x), 2.0  # np.float32(2) * x would be numpy's, element by element


def operators(x, y, out, a):
    """Two temporary arrays: the product, and the sum."""
    return a * x + y


def into_one(x, y, out, a):
    """No temporary array."""
    dpnp.multiply(x, a, out=out)
    return dpnp.add(out, y, out=out)


def onto_a_copy(x, y, out, a):
    """One temporary array, and a copy."""
    total = y.copy()
    total += a * x
    return total


compared = xebench.compare(
    {"operators": operators, "into_one": into_one, "onto_a_copy": onto_a_copy},
    reference="operators",
    claim={"into_one": "faster", "onto_a_copy": "slower"},
    queue=session,
    setup=make_arrays,
    budget_s=SECONDS,
    bytes_moved=3 * 4 * ELEMENTS,
)
print(compared)
print(compared.pairs[["variant", "speedup", "speedup_low", "speedup_high", "answer"]].to_string(index=False))
