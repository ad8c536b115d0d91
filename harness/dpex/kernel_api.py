"""Index spaces and local memory: the only names of numba-dpex that launching a compiled kernel needs."""

from numba_dpex.kernel_api import LocalAccessor, NdRange, Range

__all__ = ["LocalAccessor", "NdRange", "Range"]
