"""A kernel in OpenCL C beside one in Python: numba-dpex cannot say `volatile`, which forbids to keep a value."""

import numpy as np

from xebench import Pattern, Problem, kernel, opencl_kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="own_volatile",
    guide="none",
    lesson="A value that is read through a volatile pointer is loaded at every use.",
    claim="faster",
    presets={"smoke": {"n": 1 << 12}, "default": {"n": 1 << 20}},
    axes={"work_group_size": (64,)},
)

USES = 64

loaded_at_each_use = opencl_kernel(
    """
    __kernel void loaded_at_each_use(__global volatile const float *x, __global float *y) {
        const size_t i = get_global_id(0);
        float total = 0.0f;
        for (int use = 0; use < USES; ++use)
            total += x[i];
        y[i] = total;
    }
    """,
    build_options=f"-DUSES={USES}",
)


@kernel
def loaded_once(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    value = x[i]
    total = np.float32(0)
    for _ in range(USES):
        total += value
    y[i] = total


@pattern.problem
def whole_numbers(rng, n):
    return Problem(
        x=rng.integers(0, 1000, n).astype(np.float32),  # their sums are exact
        y=output(n, np.float32),
        bytes_moved=8 * n,
        operations=USES * n,
    )


@pattern.reference
def expected(p):
    return {"y": USES * p.x}


@pattern.naive
def volatile(session, p, work_group_size):
    """The compiler must load the value again for each addition."""
    session.launch(loaded_at_each_use, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y)


@pattern.optimized
def register(session, p, work_group_size):
    """The value stays in a register."""
    session.launch(loaded_once, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y)
