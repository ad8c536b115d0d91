"""The machinery behind the functions that kernels call.

``sub_group``, ``work_group``, ``vector``, ``native`` and ``atomics`` hold what a user reads: plain Python
functions with a signature, a docstring and, where one makes sense, a simulation, each declared with the code
generator that turns a call of it into LLVM IR, which llvm-spirv translates into one SPIR-V instruction:

- :mod:`groups`, :mod:`memory_access` and :mod:`atomic_calls` are the code generators;
- :mod:`device_function` makes a Python function and a generator one object, and :mod:`typers` has the generators where
  there is a numba that could ask for them;
- :mod:`spirv` emits calls and finds array elements, :mod:`checks` refuses wrong types, and has what numba sees of a
  function.
"""

__all__ = ["atomic_calls", "checks", "device_function", "spirv", "typers"]
