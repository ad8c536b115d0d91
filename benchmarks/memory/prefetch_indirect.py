"""Ask early for what is needed next: an index that a work-item must have before it can ask for the value."""

import math

import numpy as np

from xebench import Claim, Pattern, Problem, device_func, kernel, opencl_kernel, output
from xebench import kernel_api as kapi

from ..common import prefetch
from ..common.in_opencl import in_opencl

SUB_GROUP = 32  # the guide's programs require it: each sub-group reads a part of the places

pattern = Pattern(
    name="prefetch_indirect",
    catalogue=("E47",),
    guide="Prefetch / Indirect access in a loop that is not unrolled",
    lesson="A read that is issued a step before its result is needed costs no wait, if there is work meanwhile.",
    presets={
        "smoke": {"per_item": 3},
        "default": {"per_item": {"cpu": 256, "gpu": 512}},
        "guide": {"per_item": 2048},  # of the guide's published program
    },
    # One work-group, as in the guide, so that hardly another thread can hide the wait.
    axes={"work_group_size": (512,)},
    # numbers of one sign are added: each of up to 2048 * 64 additions in float32 may be off by 2**-24
    rtol=8e-3,
    requires=(f"sub_group_size={SUB_GROUP}",),
)

ROOTS = 64  # for each value: the work that can hide a wait
VALUES = 1 << 20
LARGEST = 1024


@device_func
def add_roots(total, value):
    """Eight a turn: the guide leaves this loop to the compiler, but options of a Python kernel are for all loops."""
    for m in range(0, ROOTS, 8):
        first = value + np.float32(m)
        total += math.sqrt(first)
        total += math.sqrt(first + np.float32(1))
        total += math.sqrt(first + np.float32(2))
        total += math.sqrt(first + np.float32(3))
        total += math.sqrt(first + np.float32(4))
        total += math.sqrt(first + np.float32(5))
        total += math.sqrt(first + np.float32(6))
        total += math.sqrt(first + np.float32(7))
    return total


# Places are [sub-group, step, lane]. As in the guide the loop over steps is not unrolled.
@kernel(unroll="disable", sub_group_size=SUB_GROUP)
def sum_of_roots(item: kapi.NdItem, places, values, sums):
    i = item.get_local_id(0)
    sub_group, lane = i // SUB_GROUP, i % SUB_GROUP
    total = np.float32(0)
    for step in range(places.shape[1]):
        total = add_roots(total, values[places[sub_group, step, lane]])
    sums[i] = total


@kernel(unroll="disable", sub_group_size=SUB_GROUP)
def next_place_early(item: kapi.NdItem, places, values, sums):
    i, steps = item.get_local_id(0), places.shape[1]
    sub_group, lane = i // SUB_GROUP, i % SUB_GROUP
    total = np.float32(0)
    place = places[sub_group, 0, lane]
    for step in range(steps):
        value = values[place]
        place = places[sub_group, min(step + 1, steps - 1), lane]
        total = add_roots(total, value)
    sums[i] = total


@kernel(unroll="disable", sub_group_size=SUB_GROUP)
def next_value_early(item: kapi.NdItem, places, values, sums):
    i, steps = item.get_local_id(0), places.shape[1]
    sub_group, lane = i // SUB_GROUP, i % SUB_GROUP
    total = np.float32(0)
    following = values[places[sub_group, 0, lane]]
    place = places[sub_group, min(1, steps - 1), lane]
    for step in range(steps):
        value = following
        following = values[place]
        place = places[sub_group, min(step + 2, steps - 1), lane]
        total = add_roots(total, value)
    sums[i] = total


# What numba-dpex cannot say: to ask for a cache line, and for no register. ``prefetch`` is OpenCL's; on Intel's GPUs it
# fetches to the last cache (L3), or is left out by IGC 1, and the compiler's own function to the first one as well.
SUM_IN_OPENCL = (
    prefetch.PREFETCH_LINE
    + """
__attribute__((intel_reqd_sub_group_size(SUB_GROUP)))
__kernel void sum_of_roots(__global const int *places, __global const float *values, __global float *sums,
                           int per_item) {
    const int i = get_local_id(0), first = i / SUB_GROUP * SUB_GROUP * per_item + i % SUB_GROUP;
    const int end = first + SUB_GROUP * per_item;
    float total = 0.0f;
    __attribute__((opencl_unroll_hint(UNROLL)))
    for (int k = first; k < end; k += SUB_GROUP) {
#if defined NEXT_TO_LAST_CACHE
        prefetch(places + k + SUB_GROUP, 1);
#elif defined NEXT_TO_FIRST_CACHE
        if (k + SUB_GROUP < end)
            PREFETCH_LINE(places + k + SUB_GROUP);
#endif
        const float value = values[places[k]];
        for (int m = 0; m < ROOTS; ++m)
            total += sqrt(value + m);
    }
    sums[i] = total;
}
"""
)


@pattern.problem
def table_and_places(rng, per_item, work_group_size):
    shape = work_group_size // SUB_GROUP, per_item, SUB_GROUP
    places = rng.integers(0, VALUES, shape, dtype=np.int32)
    return Problem(
        places=places,
        values=rng.integers(0, LARGEST, VALUES).astype(np.float32),
        sums=output(work_group_size, np.float32),
        bytes_moved=4 * (places.size + np.unique(places).size + work_group_size),
        operations=3 * ROOTS * places.size,  # an addition, a root, an addition
    )


@pattern.reference
def expected(p):
    roots = np.sqrt(np.arange(LARGEST + ROOTS))
    sums = np.convolve(roots, np.ones(ROOTS), mode="valid")  # from each value on
    return {"sums": sums[p.values[p.places].astype(int)].sum(axis=1).ravel()}


def launch(session, p, work_group_size, add):
    session.launch(add, kapi.NdRange((work_group_size,), (work_group_size,)), p.places, p.values, p.sums)


@pattern.naive
def as_needed(session, p, work_group_size):
    """The place is read, then the value, then its roots are added."""
    launch(session, p, work_group_size, sum_of_roots)


@pattern.optimized
def place_a_step_ahead(session, p, work_group_size):
    """The next place is read before the roots are added: into a register, where the guide's goes to a cache."""
    launch(session, p, work_group_size, next_place_early)


@pattern.optimized(claim=Claim("faster", against="place_a_step_ahead", on=("gpu",)))
def value_a_step_ahead(session, p, work_group_size):
    """The next value, too, so that neither is waited for."""
    launch(session, p, work_group_size, next_value_early)


def launcher_in_opencl(session, p, work_group_size, *options, unroll=1):
    macros = (f"-DROOTS={ROOTS}", f"-DSUB_GROUP={SUB_GROUP}", f"-DUNROLL={unroll}")
    add = opencl_kernel(SUM_IN_OPENCL, build_options=(*macros, *options))
    space = kapi.NdRange((work_group_size,), (work_group_size,))
    return lambda: session.launch(add, space, p.places, p.values, p.sums, p.per_item)


@pattern.baseline
def as_needed_in_opencl(session, p, work_group_size):
    """The naive loop in OpenCL C, for a comparison with the three that follow."""
    return launcher_in_opencl(session, p, work_group_size)


@pattern.intermediate(claim=Claim("faster", against="as_needed_in_opencl", on=("gpu",), source="G 4341"))
def unrolled(session, p, work_group_size):
    """Four steps a turn, by a hint for their loop alone: the compiler has reads of all of them to put first."""
    return launcher_in_opencl(session, p, work_group_size, unroll=4)


@pattern.intermediate
def prefetch_to_last_cache(session, p, work_group_size):
    """OpenCL's prefetch of the next place. It may even cost time, says the guide, and claims no more (G 4207)."""
    return launcher_in_opencl(session, p, work_group_size, "-DNEXT_TO_LAST_CACHE")


@pattern.optimized(
    claim=(
        Claim("faster", against="as_needed_in_opencl", on=("gpu",), strength="implied", source="G 4207"),
        Claim("faster", against="prefetch_to_last_cache", on=("gpu",), source="G 4207"),
    ),
    requires=prefetch.REQUIRES,
)
def prefetch_to_first_cache(session, p, work_group_size):
    """A prefetch to the first cache as well, by a function of Intel's GPU compiler."""
    return launcher_in_opencl(session, p, work_group_size, "-DNEXT_TO_FIRST_CACHE")


in_opencl(pattern, place_a_step_ahead)
