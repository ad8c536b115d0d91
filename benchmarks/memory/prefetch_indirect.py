"""Prefetch an index that a work-item must have before it can ask for the value, and say into which cache."""

from xebench import Claim, Pattern, opencl_kernel
from xebench import kernel_api as kapi

from ..common import indirect
from ..common.indirect import ROOTS, SUB_GROUP

LARGE = 32  # totals of a lane, whose registers an unrolled loop does not get for what it reads early

pattern = Pattern(
    name="prefetch_indirect",
    catalogue=("E47",),
    guide="Prefetch / Indirect access in a loop that is not unrolled",
    lesson="Where a loop cannot be unrolled, as in large kernels, a prefetch to the first cache hides the wait for its "
    "next index.",
    presets={
        "smoke": {"per_item": 3},
        "default": {"per_item": {"cpu": 256, "gpu": 512}},
        "guide": {"per_item": 2048},  # of the guide's published program
    },
    # One work-group, as in the guide, so that hardly another thread can hide the wait.
    # The guide's kernel is short, with one total. With many it stands for a large one: for a Max, Intel's compiler of
    # 2022 then does not unroll the loop, and that of 2026 spills when it does, and only then (`xebench isa`).
    axes={"work_group_size": (512,), "totals": (1, LARGE)},
    state="cold",  # the guide's program runs once; places and values that lie in the last cache need no prefetch to it
    rtol=indirect.RTOL,
    requires=(f"sub_group_size={SUB_GROUP}",),
)

# The guide's three programs (G 4126 to 4334) in one text. numba-dpex has no prefetch, so it is OpenCL C, where the
# compiler's own function takes the guide's numbers: 2 is the last cache alone, and 4 the first one as well.
LAST_CACHE, FIRST_CACHE = 2, 4
SUM_OF_ROOTS = """
#define STEPS (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

#ifdef HINT
enum LSC_LDCC { LSC_LDCC_HINT = HINT };
void __builtin_IB_lsc_prefetch_global_uint(const __global uint *base, int offset, enum LSC_LDCC caches);
#endif

__attribute__((intel_reqd_sub_group_size(SUB_GROUP)))
__kernel void sum_of_roots(__global const int *places, __global const float *values, __global float *sums,
                           int per_item) {
    const int i = get_local_id(0), first = i / SUB_GROUP * SUB_GROUP * per_item + i % SUB_GROUP;
#if TOTALS == 1
    float total = 0;
#else
    float16 even = 0, odd = 0;  // vectors: a compiler need not keep an array in registers
#endif
    __attribute__((opencl_unroll_hint(UNROLL)))
    for (int k = 0; k < per_item; ++k) {
        const int current = first + k * SUB_GROUP;
#ifdef HINT
        if (k < per_item - 1)  // a prefetch outside of the array has no defined result
            __builtin_IB_lsc_prefetch_global_uint((const __global uint *)places + current + SUB_GROUP, 0,
                                                  LSC_LDCC_HINT);
#endif
#ifdef BUILT_IN
        if (k < per_item - 1)
            prefetch(places + current + SUB_GROUP, 1);
#endif
        const float value = values[places[current]];
#if TOTALS == 1
        for (int m = 0; m < ROOTS; ++m)
            total += sqrt(value + m);
#else
        even += sqrt(value + STEPS) + sqrt(value + 32 + STEPS);
        odd += sqrt(value + 16 + STEPS) + sqrt(value + 48 + STEPS);
#endif
    }
#if TOTALS > 1
    const float16 both = even + odd;
    const float8 eight = both.lo + both.hi;
    const float4 four = eight.lo + eight.hi;
    const float total = four.x + four.y + four.z + four.w;
#endif
    sums[i] = total;
}
"""


@pattern.problem
def table_and_places(rng, per_item, work_group_size):
    return indirect.table_and_places(rng, per_item, work_group_size)


pattern.reference(indirect.sums_of_roots)


def launcher(session, p, work_group_size, totals, *options, unroll=1):
    macros = (f"-DROOTS={ROOTS}", f"-DSUB_GROUP={SUB_GROUP}", f"-DTOTALS={totals}", f"-DUNROLL={unroll}")
    add = opencl_kernel(SUM_OF_ROOTS, build_options=(*macros, *options))
    space = kapi.NdRange((work_group_size,), (work_group_size,))
    return lambda: session.launch(add, space, p.places, p.values, p.sums, p.per_item)


@pattern.naive
def as_needed(session, p, work_group_size, totals):
    """The place is read, then the value, then its roots are added (G 4126)."""
    return launcher(session, p, work_group_size, totals)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), where={"totals": 1}, source="G 4341"))
def unrolled(session, p, work_group_size, totals):
    """Four steps a turn, by a hint for their loop alone: the compiler has reads of all of them to put first."""
    return launcher(session, p, work_group_size, totals, unroll=4)


# Of the Max series and later ones (G 4113). Their drivers are those with two-dimensional block access.
ON_MAX = ("intel_gpu", "intel_2d_block_io")


# DPC++ makes the same instruction of SPIR-V of `sycl::global_ptr::prefetch`. Intel's compiler of 2022 (IGC 1) makes
# nothing of it on the Max series, that of 2026 (IGC 2) a message. The guide says that it may cost time, and claims no
# more (G 4207).
@pattern.intermediate
def prefetch_by_built_in(session, p, work_group_size, totals):
    """The next place is asked for by OpenCL's own function, which names no cache (G 4159 to 4161)."""
    return launcher(session, p, work_group_size, totals, "-DBUILT_IN")


# The guide's hint for what `global_ptr::prefetch` does (G 4286).
@pattern.intermediate(requires=ON_MAX)
def prefetch_to_last_cache(session, p, work_group_size, totals):
    """The next place is asked for before the roots are added, and comes to the last cache (L3; G 4160)."""
    return launcher(session, p, work_group_size, totals, f"-DHINT={LAST_CACHE}")


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), where={"totals": 1}, strength="implied", source="G 4207"),
        # gains are expected in large kernels, where a compiler's own methods might not be enough
        Claim("faster", on=("gpu",), where={"totals": LARGE}, source="G 4341"),
        Claim("faster", against="unrolled", on=("gpu",), where={"totals": LARGE}, strength="implied", source="G 4341"),
        Claim("faster", against="prefetch_to_last_cache", on=("gpu",), source="G 4207"),
        Claim("faster", against="prefetch_by_built_in", on=("gpu",), source="G 4207"),
    ),
    requires=ON_MAX,
)
def prefetch_to_first_cache(session, p, work_group_size, totals):
    """It comes to the first cache as well (L1; G 4290)."""
    return launcher(session, p, work_group_size, totals, f"-DHINT={FIRST_CACHE}")
