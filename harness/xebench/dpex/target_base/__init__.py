"""What the code generators of kernels build on, by either compiler: types, contexts, registries.

It is below :mod:`xebench.dpex._intrinsics`, whose generators :mod:`xebench.dpex.numba_target` uses.
"""

from typing import Final

#: The calling convention of device functions.
SPIR_FUNC: Final = "spir_func"

__all__ = [
    "SPIR_FUNC",
    "context",
    "device_types",
    "integers",
    "of_stack",
]
