"""Print from a kernel to see what it does, and take the print out again: it costs far more than the kernel."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, opencl_kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="kernel_printing",
    catalogue=("E57",),
    guide="Kernels / Doing I/O in the Kernel",
    lesson="A device has nowhere to print to: its text goes to the host through a buffer. An array is faster.",
    # xebench shows nothing of what workers print
    presets={
        "smoke": {"n": (32, 28)},
        "default": {"n": 32},  # as the guide: more lines tell no more, and the host has to keep them all
        "guide": {"n": 32},
    },
    axes={"work_group_size": (4,)},
    metric="wall",  # the host prints when the kernel is over
    stand_in="sycl::stream is a class of C++ headers, which a C++ compiler makes part of a kernel; PyPI has "
    "Intel's runtime alone. The print of numba-dpex shows zeros on a CPU device. OpenCL's printf is measured, whose "
    "lines come in any order, too.",
)


square_and_print = opencl_kernel(
    """
    __kernel void square_and_print(__global long *y) {
        const long i = get_global_id(0);
        y[i] = i * i;
        printf("ID = %ld\\n", i);
    }
    """
)


@kernel
def square(item: kapi.NdItem, y):
    i = item.get_global_id(0)
    y[i] = i * i


@pattern.problem
def squares(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(y=output(n, np.int64), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": np.arange(p.n) ** 2}


@pattern.naive
def printed(session, p, work_group_size):
    """Each work-item prints a line."""
    session.launch(square_and_print, kapi.NdRange((p.n,), (work_group_size,)), p.y)


@pattern.optimized(claim=Claim("faster", strength="implied", source="G 5465"))
def stored(session, p, work_group_size):
    """Each work-item stores its result, and the host gets them all at once."""
    session.launch(square, kapi.NdRange((p.n,), (work_group_size,)), p.y)
    session.copy(np.empty(p.n, np.int64), p.y)
