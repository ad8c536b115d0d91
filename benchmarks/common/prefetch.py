"""Prefetch to the first cache, for OpenCL C: a function that only Intel's GPU compiler has."""

# Of the Max series and later ones, says the guide (G 4113). Their drivers are those with two-dimensional block access.
REQUIRES = ("intel_gpu", "intel_2d_block_io")

# The cache line of an address goes to the first and the last cache. It fails outside of arrays: check before.
PREFETCH_LINE = """
enum LSC_LDCC { LSC_LDCC_L1C_L3C = 4 };
void __builtin_IB_lsc_prefetch_global_uint(const __global uint *base, int offset, enum LSC_LDCC caches);
#define PREFETCH_LINE(address) \\
    __builtin_IB_lsc_prefetch_global_uint((const __global uint *)(address), 0, LSC_LDCC_L1C_L3C)
"""
