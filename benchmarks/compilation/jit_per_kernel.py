"""Build the kernels that are launched, when they are launched, not all that a program might launch."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output, specialize
from xebench import kernel_api as kapi

pattern = Pattern(
    name="jit_per_kernel",
    catalogue=("E71",),
    guide="Compilation / Just-In-Time Compilation",
    lesson="What is built upfront is paid for at the first launch, whether it is ever launched or not.",
    presets={
        "smoke": {"n": (64, 61)},
        "default": {"n": 1 << 12},
        "guide": {"n": 1 << 16},
    },
    metric="build",
    environment={"NEO_CACHE_PERSISTENT": "0"},  # else Intel's GPU driver reads the build of an earlier process
)

KERNELS = 3  # of the program, of which one is launched
FACTORS = range(2, 2 + KERNELS)


def multiply_by(factor):
    """One of the program's kernels; a constant makes each of them another one."""

    @kernel
    def multiply(item: kapi.Item, x, y):
        i = item.get_id(0)
        y[i] = np.int32(factor) * x[i]

    return multiply


@pattern.problem
def one_array(rng, n):
    return Problem(x=rng.integers(0, 1000, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": FACTORS[-1] * p.x}


def launch_each(session, p, factors):
    """A sample: nothing is built before, and every kernel is launched once; the last one's result counts."""
    multiplications = [specialize(multiply_by, factor=factor) for factor in factors]

    def sample():
        session.forget_builds()
        for multiply in multiplications:
            session.launch(multiply, kapi.Range(p.n), p.x, p.y)

    return sample


# A launch is how a kernel is built here; the metric counts the builds alone.
@pattern.naive
def all_upfront(session, p):
    """Every kernel of the program is built before the first one runs."""
    return launch_each(session, p, FACTORS)


@pattern.optimized(claim=Claim("faster", source="G 8116 to 8250"))
def when_launched(session, p):
    """Only the kernel that is needed is built."""
    return launch_each(session, p, FACTORS[-1:])
