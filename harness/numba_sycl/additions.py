"""Additions of a program that is built on this package; xebench sets all of them."""

from __future__ import annotations

from pathlib import Path

#: Name of the module that has numba-dpex 0.23 compile kernels (`compile_by_numba`), and mends it when it is imported.
adapter_module: str | None = None

#: Name of the module that compiles kernels in SYCL C++ (`compile_sycl`).
sycl_module: str | None = None

#: A zip with modules of kernels in OpenCL C, named ``DIGEST.spv`` (`numba_sycl.foreign_kernel.foreign_digest`).
opencl_archive: Path | None = None
