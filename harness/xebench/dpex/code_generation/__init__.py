"""How code is made of the functions that kernels call, by either compiler: generators, types, and the target.

``sub_group``, ``work_group``, ``vector``, ``native`` and ``atomics`` hold what a user reads: plain Python
functions with a signature, a docstring and, where one makes sense, a simulation, each declared with the code
generator that turns a call of it into LLVM IR, which llvm-spirv translates into one SPIR-V instruction:

- :mod:`generators` has the code generators;
- :mod:`device_function` makes a Python function and a generator one object;
- :mod:`spirv` emits calls and finds array elements, :mod:`checks` refuses wrong types, and has what numba sees of a
  function;
- :mod:`device_types` has the types of arrays, items and groups, how LLVM represents them, and integer arithmetic;
- :mod:`context` is the target: what numba may use, how functions call each other, where their code is kept.

:mod:`xebench.dpex.numba_target` compiles kernels with all of these, numba-dpex with some.
"""

from typing import Final

#: The calling convention of device functions.
SPIR_FUNC: Final = "spir_func"

__all__ = [
    "SPIR_FUNC",
    "checks",
    "context",
    "device_function",
    "device_types",
    "generators",
    "spirv",
]
