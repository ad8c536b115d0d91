"""The machinery behind the functions that kernels call.

``sub_group``, ``work_group``, ``vector``, ``native`` and ``atomics`` hold what a user reads: plain Python
functions with a signature, a docstring and, where one makes sense, a simulation. This package turns a call of
such a function in a kernel into LLVM IR that llvm-spirv translates into one SPIR-V instruction:

- :mod:`functions` is the callable object that stands between the two (it needs no numba);
- :mod:`function_type` is what numba sees: it types a call and registers its code generator;
- :mod:`spirv` emits calls, :mod:`checks` refuses wrong types;
- :mod:`groups`, :mod:`blocks`, :mod:`vectors`, :mod:`mathematics`, :mod:`atomic` are the code generators, each
  ending in the list of the public functions that it implements.

numba and numba-dpex are imported when the first kernel that uses one of the functions is compiled.
"""

from __future__ import annotations

from harness.dpex._intrinsics.functions import DeviceFunction, device_function

__all__ = ["DeviceFunction", "device_function"]
