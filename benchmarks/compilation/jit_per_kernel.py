"""Build the kernels that are launched, when they are launched, not all that a program might launch."""

import numpy as np

from xebench import Claim, Pattern, Problem, opencl_kernel, output
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
    # The guide's program has two kernels; what the driver takes for any module hides a few.
    axes={"kernels": (2, 16)},
    metric="build",
    environment={"NEO_CACHE_PERSISTENT": "0"},  # else Intel's GPU driver reads the build of an earlier process
)

KERNEL = """
__kernel void add{number}(__global const int *a, __global const int *b, __global int *total) {{
    const int i = get_global_id(0);
    total[i] = a[i] + {number} * b[i];
}}
"""


@pattern.problem
def two_arrays(rng, n):
    a, b = (rng.integers(0, 1000, n, dtype=np.int32) for _ in range(2))
    return Problem(a=a, b=b, total=output(n, np.int32), bytes_moved=12 * n)


@pattern.reference
def expected(p):
    return {"total": p.a + p.b}


def launch_first_of(session, p, kernels):
    """A sample: nothing is built before, and one kernel of a module of several is launched."""
    # OpenCL C and not Python, of which each kernel is a module of its own
    text = "".join(KERNEL.format(number=number) for number in range(1, kernels + 1))
    add = opencl_kernel(text, name="add1")

    def sample():
        session.forget_builds()
        session.launch(add, kapi.Range(p.n), p.a, p.b, p.total)

    return sample


@pattern.naive
def all_upfront(session, p, kernels):
    """One module with every kernel of the program, built before the first of them runs."""
    return launch_first_of(session, p, kernels)


@pattern.optimized(claim=Claim("faster", source="G 8116 to 8250"))
def when_launched(session, p):
    """A module of the kernel that is needed."""
    return launch_first_of(session, p, 1)
