"""The machinery behind the functions that kernels call.

``sub_group``, ``work_group``, ``vector``, ``native`` and ``atomics`` hold what a user reads: plain Python
functions with a signature, a docstring and, where one makes sense, a simulation, each declared with the code
generator that turns a call of it into LLVM IR, which llvm-spirv translates into one SPIR-V instruction:

- :mod:`groups`, :mod:`block_access`, :mod:`vectors`, :mod:`mathematics`, :mod:`atomic_calls` are the code generators;
- :mod:`device_function` makes a Python function and a generator one object, :mod:`device_function_type` is what numba
  sees of it, and :mod:`typers` has the generators where there is a numba that could ask for them;
- :mod:`spirv` emits calls, :mod:`checks` refuses wrong types, :mod:`addresses` finds array elements.
"""

__all__ = ["atomic_calls", "checks", "device_function", "spirv", "typers"]
