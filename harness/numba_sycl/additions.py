"""An addition of a program that is built on this package, which sets it."""

from __future__ import annotations

#: Name of the module that has numba-dpex 0.23 compile kernels (`compile_by_numba`), and mends it when it is imported.
adapter_module: str | None = None
