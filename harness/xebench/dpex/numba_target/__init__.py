"""A target of numba for SYCL devices: Python kernels to SPIR-V, where numba-dpex is not installed.

numba types a kernel and lowers it to LLVM IR; LLVM's SPIR-V back end, which the wheels of llvmlite carry from 0.45 on,
turns that into a module. Nothing else is needed. :mod:`xebench.dpex.code_generation` has what it builds on.

- :mod:`pipeline` compiles one Python function for argument types;
- :mod:`items` and :mod:`calls` are what kernels use of `xebench.kernel_api`, of Python and of ``math``;
- :mod:`compile` is all of it, and :mod:`back_end` runs LLVM.
"""

__all__ = ["back_end", "compile"]
