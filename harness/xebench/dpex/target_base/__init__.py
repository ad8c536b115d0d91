"""What the code generators of kernels build on, by either compiler: types, contexts, registries.

It is below :mod:`xebench.dpex._intrinsics`, whose generators :mod:`xebench.dpex.numba_target` uses.
"""
