"""Ask for data early enough: a prefetch of the very next step comes too late, and a fence may throw it away."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, opencl_kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="prefetch_distance",
    catalogue=("E47",),
    guide="Memory / Prefetch",
    lesson="A prefetch does not wait: there must be enough work between it and the use of what it brings.",
    # OpenCL's own prefetch, which Python lacks. Intel's compiler IGC 1 leaves it out: the report says "same program".
    presets={
        "smoke": {"n": (1 << 10, 1021), "steps": 32},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 18, per_lane=1)}, "steps": 128},
        "guide": {"n": 1 << 20, "steps": 256},
    },
    own_sizes="the guide gives the advice without a program",
    axes={"work_group_size": (256,)},
    state="cold",
)

ADD_PLACES = """
__kernel void add_places(__global const int *x, __global const int *places, __global int *y, int n, int steps) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int total = 0;
    for (int step = 0; step < steps; ++step) {
#if DISTANCE
        if (step + DISTANCE < steps)
            prefetch(x + places[(step + DISTANCE) * n + i], 1);
#endif
#ifdef FENCE
        mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
        total += x[places[step * n + i]];
    }
    y[i] = total;
}
"""


@pattern.problem
def places_in_any_order(rng, n, steps):
    return Problem(
        x=rng.integers(0, 100, n * steps, dtype=np.int32),
        places=rng.integers(0, n * steps, n * steps, dtype=np.int32),
        y=output(n, np.int32),
        bytes_moved=4 * n * (2 * steps + 1),
    )


@pattern.reference
def expected(p):
    return {"y": p.x[p.places].reshape(p.steps, p.n).sum(axis=0, dtype=np.int32)}


def launcher(session, p, work_group_size, distance, *options):
    add = opencl_kernel(ADD_PLACES, build_options=(f"-DDISTANCE={distance}", *options))
    space = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))
    return lambda: session.launch(add, space, p.x, p.places, p.y, p.n, p.steps)


@pattern.baseline
def no_prefetch(session, p, work_group_size):
    """Each number is asked for when it is needed."""
    return launcher(session, p, work_group_size, 0)


@pattern.naive
def one_step_ahead(session, p, work_group_size):
    """The number of the next step is asked for, and needed at once."""
    return launcher(session, p, work_group_size, 1)


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 4115"))
def eight_steps_ahead(session, p, work_group_size):
    """Seven steps lie between the prefetch and its use."""
    return launcher(session, p, work_group_size, 8)


@pattern.antipattern(
    claim=Claim("slower", against="eight_steps_ahead", on=("gpu",), strength="implied", source="G 4339")
)
def fence_in_each_step(session, p, work_group_size):
    """The same with a fence in each step, which may flush the cache that was filled."""
    return launcher(session, p, work_group_size, 8, "-DFENCE")
