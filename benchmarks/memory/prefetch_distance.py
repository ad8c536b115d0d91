"""Ask for data early enough: a prefetch of the very next step comes too late, and a fence may throw it away."""

import numpy as np

from xebench import Claim, Pattern, Problem, opencl_kernel, output
from xebench import kernel_api as kapi

from ..common import prefetch

pattern = Pattern(
    name="prefetch_distance",
    catalogue=("E47",),
    guide="Memory / Prefetch",
    lesson="A prefetch does not wait: there must be enough work between it and the use of what it brings.",
    # In OpenCL C, whose own prefetch Intel's compiler IGC 1 leaves out: the compiler's function of a Max.
    presets={
        "smoke": {"steps": (32, 31)},
        "default": {"steps": {"cpu": 256, "gpu": 2048}},
        "guide": {"steps": 2048},
    },
    own_sizes="the guide gives the advice without a program",
    # One work-group and a loop that is not unrolled, as in the guide's examples: else other threads hide the wait.
    axes={"work_group_size": (512,)},
    state="cold",
    odd_sizes={},
)

LINE = 16  # numbers of a line of 64 bytes, of which one is used
STRIDE = 1021  # lines; a prime, so that every line is met

ADD_LINES = (
    prefetch.PREFETCH_LINE
    + """
#define PLACE(step) (((step) * size + i) * STRIDE % lines * LINE)

__kernel void add_lines(__global const int *x, __global int *y, uint steps) {
    const uint i = get_local_id(0), size = get_local_size(0), lines = steps * size;
    int total = 0;
    __attribute__((opencl_unroll_hint(1)))
    for (uint step = 0; step < steps; ++step) {
#if DISTANCE
        if (step + DISTANCE < steps)
            PREFETCH_LINE(x + PLACE(step + DISTANCE));
#endif
#ifdef FENCE
        mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
        total += x[PLACE(step)];
    }
    y[i] = total;
}
"""
)


@pattern.problem
def one_number_a_line(rng, steps, work_group_size):
    lines = steps * work_group_size
    if lines % STRIDE == 0 or lines * STRIDE >= 1 << 32:
        raise ValueError(f"steps={steps}: give no multiple of {STRIDE}, and less than {(1 << 32) // STRIDE} lines")
    return Problem(x=rng.integers(0, 100, lines * LINE, dtype=np.int32), y=output(work_group_size, np.int32))


@pattern.reference
def expected(p):
    lines = p.x[::LINE]
    met = lines[np.arange(lines.size) * STRIDE % lines.size]
    return {"y": met.reshape(p.steps, p.work_group_size).sum(axis=0, dtype=np.int32)}


def launcher(session, p, work_group_size, distance, *options):
    macros = (f"-DLINE={LINE}", f"-DSTRIDE={STRIDE}", f"-DDISTANCE={distance}")
    add = opencl_kernel(ADD_LINES, build_options=(*macros, *options))
    space = kapi.NdRange((work_group_size,), (work_group_size,))
    return lambda: session.launch(add, space, p.x, p.y, np.uint32(p.steps))


@pattern.naive
def no_prefetch(session, p, work_group_size):
    """Each number is asked for when it is needed."""
    return launcher(session, p, work_group_size, 0)


@pattern.intermediate(requires=prefetch.REQUIRES)
def one_step_ahead(session, p, work_group_size):
    """The number of the next step is asked for, and needed at once."""
    return launcher(session, p, work_group_size, 1)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 4113"),
        Claim("faster", against="one_step_ahead", on=("gpu",), source="G 4115"),
    ),
    requires=prefetch.REQUIRES,
)
def eight_steps_ahead(session, p, work_group_size):
    """Seven steps lie between the prefetch and its use."""
    return launcher(session, p, work_group_size, 8)


@pattern.antipattern(
    claim=Claim("slower", against="eight_steps_ahead", on=("gpu",), strength="implied", source="G 4339"),
    requires=prefetch.REQUIRES,
)
def fence_in_each_step(session, p, work_group_size):
    """The same with a fence in each step, which may flush the cache that was filled."""
    return launcher(session, p, work_group_size, 8, "-DFENCE")
