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
    # The guide's program has two kernels; what the driver takes for any module hides a few. It launches one of them, or
    # all: what was built upfront is not paid for again (G 8263), but the guide does not say which way is the quicker.
    axes={"kernels": (2, 16), "launched": ("one", "all")},
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


def launch_all(session, p, kernels):
    """A sample: nothing is built before."""

    def sample():
        session.forget_builds()
        for add in kernels:
            session.launch(add, kapi.Range(p.n), p.a, p.b, p.total)

    return sample


def numbers(kernels, launched):
    """The kernels that the program launches; the first one, whose result is looked at, is the last."""
    return range(kernels, 0, -1) if launched == "all" else (1,)


@pattern.naive
def all_upfront(session, p, kernels, launched):
    """One module with every kernel of the program, built before the first of them runs."""
    # OpenCL C and not Python, of which each kernel is a module of its own
    module = "".join(KERNEL.format(number=number) for number in range(1, kernels + 1))
    return launch_all(session, p, [opencl_kernel(module, name=f"add{k}") for k in numbers(kernels, launched)])


@pattern.optimized(claim=Claim("faster", where={"launched": "one"}, source="G 8232 to 8239"))
def when_launched(session, p, kernels, launched):
    """A module for each kernel, built when the kernel is launched."""
    return launch_all(session, p, [opencl_kernel(KERNEL.format(number=k)) for k in numbers(kernels, launched)])
