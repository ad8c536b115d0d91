"""What keeps a private variable out of registers for no reason: ``volatile``, and a pointer to it."""

from xebench import Claim, Pattern, fit, opencl_kernel

from ..common import histograms
from ..common.histograms import BLOCK, launcher

pattern = Pattern(
    name="volatile_and_addresses",
    catalogue=("E25", "E26a"),
    guide="Registers and Performance / Optimizing Register Spills",
    lesson="A private variable is nobody else's: declared volatile, or used by its address, it must lie in memory.",
    presets={
        "smoke": {"n": (1 << 15, 3 << 14)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 24, per_lane=64)}},
        "guide": {"n": 4096 * 4096},  # of the guide's published program
    },
    axes={"sub_group_size": "device", "work_group_size": (64,)},
    requires=("sub_groups",),
)

BINS = 32

# In OpenCL C, since Python has neither volatile variables nor addresses. Two macros say which variant it is.
COUNT = """
#ifdef VOLATILE
#define QUALIFIER volatile
#else
#define QUALIFIER
#endif

__attribute__((intel_reqd_sub_group_size(LANES)))
__kernel void count(__global const long *words, __global int *counts) {
    const size_t i = get_local_id(0);
    const size_t first = (get_group_id(0) * get_local_size(0) + i / LANES * LANES) * BLOCK + i % LANES;
    QUALIFIER uint own[BINS];
    for (int b = 0; b < BINS; ++b)
        own[b] = 0;
    for (int k = 0; k < BLOCK; ++k) {
        long word = words[first + k * LANES];
#ifdef BY_ADDRESS
        long *const place = &word;
#pragma unroll
        for (int field = 0; field < 8; ++field, *place >>= 8)
            own[*place & (BINS - 1)] += 1;
#else
#pragma unroll
        for (int field = 0; field < 8; ++field, word >>= 8)
            own[word & (BINS - 1)] += 1;
#endif
    }
    for (int b = 0; b < BINS; ++b)
        atomic_add(counts + b, (int)own[b]);
}
"""


def counter(lanes, *macros):
    """The kernel for sub-groups of ``lanes``."""
    definitions = (f"BINS={BINS}", f"BLOCK={BLOCK}", f"LANES={lanes}", *macros)
    return opencl_kernel(COUNT, build_options=" ".join(f"-D{definition}" for definition in definitions))


@pattern.problem
def packed_numbers(rng, n):
    return histograms.packed_numbers(rng, n, BINS)


@pattern.reference
def expected(p):
    return histograms.counts_of(p.words, BINS)


@pattern.naive
def volatile_bins(session, p, work_group_size, sub_group_size):
    """Whoever declares the bins volatile has them loaded and stored at each use."""
    return launcher(session, p, work_group_size, counter(sub_group_size, "VOLATILE"))


@pattern.antipattern
def word_by_address(session, p, work_group_size, sub_group_size):
    """The word that is counted is shifted through a pointer to it."""
    return launcher(session, p, work_group_size, counter(sub_group_size, "BY_ADDRESS"))


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 2070"),
        Claim("spills", on=("gpu",), source="G 2070"),
        Claim("spills", against="word_by_address", on=("gpu",), source="G 2131 to 2133"),
    )
)
def plain(session, p, work_group_size, sub_group_size):
    """Bins and word are plain private variables."""
    return launcher(session, p, work_group_size, counter(sub_group_size))
