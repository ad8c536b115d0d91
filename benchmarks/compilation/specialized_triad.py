"""A triad that goes round an inner loop: the number of rounds as an argument, specialized, or in the source.

SYCL sets a specialization constant in the SPIR-V that it has, which no release of dpctl can. Here the kernel is
compiled anew with the constant, so that the driver builds the same code; both happen before the clock starts.
"""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, ceil_div, fit, kernel, output, specialize
from xebench import kernel_api as kapi

from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="specialized_triad",
    catalogue=("E75",),
    guide="Specialization Constants / Modified STREAM Triad Application",
    lesson="A specialized trip count lets the compiler unroll the loop, as if the number stood in the source.",
    # The guide's elements are doubles, which not every GPU has, and its sum is a whole number by a slip; here both are
    # float32. At its size as many bytes are moved, with twice the arithmetic, and the memory still takes longer.
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 21, "gpu": fit(1 << 24, bytes_each=12)}},
        "guide": {"n": 1 << 27},
    },
    axes={"work_group_size": (256,)},
)

ROUNDS = 10
FACTOR = 3
# seconds; the guide names no product here (G 8635 to 8639)
ARGUMENT, SPECIALIZED, LITERAL = 0.00161008, 0.00156256, 0.00155104


@kernel
def triad_of_argument(item: kapi.NdItem, a, b, c, rounds):
    i = item.get_global_id(0)
    if i < c.shape[0]:
        total = np.float32(0)
        for j in range(rounds):
            total += a[i] + b[i] * np.float32(FACTOR * j)
        c[i] = total


def triad_of(rounds):
    """The kernel for one number of rounds."""

    @kernel
    def triad_of_constant(item: kapi.NdItem, a, b, c):
        i = item.get_global_id(0)
        if i < c.shape[0]:
            total = np.float32(0)
            for j in range(rounds):
                total += a[i] + b[i] * np.float32(FACTOR * j)
            c[i] = total

    return triad_of_constant


@kernel
def triad_of_ten(item: kapi.NdItem, a, b, c):
    i = item.get_global_id(0)
    if i < c.shape[0]:
        total = np.float32(0)
        for j in range(10):
            total += a[i] + b[i] * np.float32(FACTOR * j)
        c[i] = total


@pattern.problem
def whole_numbers(rng, n):
    """Small ones: every sum is exact in float32."""
    a, b = (rng.integers(0, 128, n, dtype=np.uint8).astype(np.float32) for _ in range(2))
    return Problem(a=a, b=b, c=output(n, np.float32), bytes_moved=3 * 4 * n)


@pattern.reference
def expected(p):
    return {"c": ROUNDS * p.a + FACTOR * (ROUNDS * (ROUNDS - 1) // 2) * p.b}


def items(p, work_group_size):
    return kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))


@pattern.naive(claim=Claim("additions", against="specialized", at_least=ROUNDS, on=("gpu",), source="G 8641"))
def argument(session, p, work_group_size):
    """The number of rounds is an argument of the launch, and the loop is a loop."""
    session.launch(triad_of_argument, items(p, work_group_size), p.a, p.b, p.c, ROUNDS)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), figure=Figure(ARGUMENT / SPECIALIZED, line="G 8635 to 8641")),
        Claim(
            "same",
            against="literal",
            within=0.01,  # the guide's differ by 0.7 %
            on=("gpu",),
            figure=Figure(LITERAL / SPECIALIZED, line="G 8637 to 8641"),
        ),
    )
)
def specialized(session, p, work_group_size):
    """The number of rounds is a constant of a kernel that is built for it."""
    triad_of_constant = specialize(triad_of, rounds=ROUNDS)
    return lambda: session.launch(triad_of_constant, items(p, work_group_size), p.a, p.b, p.c)


@pattern.baseline
def literal(session, p, work_group_size):
    """The number of rounds stands in the kernel's source."""
    session.launch(triad_of_ten, items(p, work_group_size), p.a, p.b, p.c)


in_opencl(pattern, argument)
