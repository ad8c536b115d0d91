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

PLACE = prefetch.PREFETCH_LINE + "#define PLACE(step) (((step) * size + i) * STRIDE % lines * LINE)\n"
ADD_LINES = """
__kernel void add_lines(__global const int *x, __global int *y, uint steps) {
    const uint i = get_local_id(0), size = get_local_size(0), lines = steps * size;
    int total = 0;
    __attribute__((opencl_unroll_hint(1)))
    for (uint step = 0; step < steps; ++step) {
#if DISTANCE
        if (step + DISTANCE < steps)
            PREFETCH_LINE(x + PLACE(step + DISTANCE));
#endif
        total += x[PLACE(step)];
    }
    y[i] = total;
}
"""
# As many prefetches and fences wherever the fence stands: what it throws away differs alone. Barriers keep the other
# threads' fences, which empty the same cache, from what was prefetched after a fence. Only a fence for the whole device
# empties it: of `mem_fence`, Intel's compiler of 2026 (IGC 2) makes one for the work-group.
ADD_LINES_WITH_FENCES = """
#define FENCE \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device); \\
    barrier(CLK_LOCAL_MEM_FENCE)

__kernel void add_lines_with_fences(__global const int *x, __global int *y, uint steps) {
    const uint i = get_local_id(0), size = get_local_size(0), lines = steps * size;
    int total = 0;
    __attribute__((opencl_unroll_hint(1)))
    for (uint first = 0; first < steps; first += DISTANCE) {
        const uint end = min(first + DISTANCE, steps);
#ifndef FENCE_LAST
        FENCE;
#endif
        __attribute__((opencl_unroll_hint(1)))
        for (uint step = first; step < end; ++step)
            PREFETCH_LINE(x + PLACE(step));
#ifdef FENCE_LAST
        FENCE;
#endif
        __attribute__((opencl_unroll_hint(1)))
        for (uint step = first; step < end; ++step)
            total += x[PLACE(step)];
    }
    y[i] = total;
}
"""


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


def launcher(session, p, work_group_size, distance, text=ADD_LINES, options=()):
    macros = (f"-DLINE={LINE}", f"-DSTRIDE={STRIDE}", f"-DDISTANCE={distance}")
    add = opencl_kernel(PLACE + text, build_options=(*macros, *options))
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


WITH_FENCES = "-cl-std=CL2.0"  # or the text has no fence with a scope


# A fence takes time by itself, so both programs have one for each eight prefetches.
@pattern.intermediate(requires=prefetch.REQUIRES)
def fence_before_prefetches(session, p, work_group_size):
    """Eight steps are prefetched after a fence, and then added."""
    return launcher(session, p, work_group_size, 8, ADD_LINES_WITH_FENCES, (WITH_FENCES,))


@pattern.antipattern(
    claim=Claim("slower", against="fence_before_prefetches", on=("gpu",), strength="implied", source="G 4339"),
    requires=prefetch.REQUIRES,
)
def fence_after_prefetches(session, p, work_group_size):
    """The same with the fence between the prefetches and the additions, which may flush the cache that was filled."""
    return launcher(session, p, work_group_size, 8, ADD_LINES_WITH_FENCES, (WITH_FENCES, "-DFENCE_LAST"))
