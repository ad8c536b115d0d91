"""Let caches keep what is read again: a hint on the load can forbid it."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, opencl_kernel, output
from xebench import kernel_api as kapi

from ..common import prefetch

pattern = Pattern(
    name="load_cache_hints",
    catalogue=("E47",),
    guide="Memory / Prefetch, cache options",
    lesson="A load can go past the first cache, or past both, or give up its line: good for what is read once only.",
    # The hints are functions of Intel's GPU compiler for OpenCL C, of the Max series and later GPUs.
    presets={
        "smoke": {"n": (1 << 10, 1021), "rounds": 4},
        "default": {"n": {"cpu": 1 << 14, "gpu": fit(1 << 20, per_lane=4)}, "rounds": 32},
        "guide": {"n": 1 << 22, "rounds": 64},
    },
    own_sizes="the guide lists the hints without a program",
    axes={"work_group_size": (256,)},
)

TABLE = 1 << 10  # numbers that each work-group reads again and again: they fit every first cache

# The guide's numbers of the hints (G 4215 to 4223).
NEITHER_CACHE, LAST_CACHE, BOTH_CACHES, INVALIDATED = 1, 2, 4, 7

ADD_TABLE = """
#ifdef HINT
enum LSC_LDCC { ASKED = HINT };
uint __builtin_IB_lsc_load_global_uint(const __global uint *base, int offset, enum LSC_LDCC caches);
#define LOAD(address) __builtin_IB_lsc_load_global_uint(address, 0, ASKED)
#else
#define LOAD(address) (*(address))
#endif

__kernel void add_table(__global const uint *table, __global uint *y, int n, int rounds) {
    const int i = get_global_id(0);
    if (i >= n)
        return;
    uint total = 0;
    for (int k = 0; k < rounds * 16; ++k)
        total = total * 3 + LOAD(table + (i + k % 16 * 64) % TABLE);
    y[i] = total;
}
"""


@pattern.problem
def table_of_numbers(rng, n):
    return Problem(table=rng.integers(0, 1 << 30, TABLE, dtype=np.uint32), y=output(n, np.uint32))


@pattern.reference
def expected(p):
    totals, i = np.zeros(TABLE, np.uint32), np.arange(TABLE)
    for k in range(p.rounds * 16):
        totals = totals * np.uint32(3) + p.table[(i + k % 16 * 64) % TABLE]
    return {"y": np.resize(totals, p.n)}  # an item's total is that of the item TABLE places before it


def launcher(session, p, work_group_size, *options):
    add = opencl_kernel(ADD_TABLE, build_options=(f"-DTABLE={TABLE}", *options))
    space = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))
    return lambda: session.launch(add, space, p.table, p.y, p.n, p.rounds)


def with_hint(session, p, work_group_size, hint):
    return launcher(session, p, work_group_size, f"-DHINT={hint}")


@pattern.naive
def as_the_compiler_likes(session, p, work_group_size):
    """Ordinary loads."""
    return launcher(session, p, work_group_size)


@pattern.optimized(requires=prefetch.REQUIRES, claim=Claim("same", on=("gpu",)))
def both_caches(session, p, work_group_size):
    """Loads that both caches keep."""
    return with_hint(session, p, work_group_size, BOTH_CACHES)


@pattern.antipattern(
    requires=prefetch.REQUIRES,
    claim=Claim("slower", against="both_caches", on=("gpu",), strength="implied", source="G 4216, 4218"),
)
def last_cache_alone(session, p, work_group_size):
    """Loads that the first cache does not keep."""
    return with_hint(session, p, work_group_size, LAST_CACHE)


@pattern.antipattern(
    requires=prefetch.REQUIRES,
    claim=Claim("slower", against="last_cache_alone", on=("gpu",), strength="implied", source="G 4215 to 4216"),
)
def neither_cache(session, p, work_group_size):
    """Loads that no cache keeps."""
    return with_hint(session, p, work_group_size, NEITHER_CACHE)


@pattern.antipattern(
    requires=prefetch.REQUIRES,
    claim=Claim("slower", against="both_caches", on=("gpu",), strength="implied", source="G 4221 to 4222"),
)
def invalidated_after_read(session, p, work_group_size):
    """Loads that give up the first cache's line, which is read again."""
    return with_hint(session, p, work_group_size, INVALIDATED)
