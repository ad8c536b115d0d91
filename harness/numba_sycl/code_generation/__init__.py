"""Generate code from kernels: the functions that they call, for either compiler, and our own target of numba.

``sub_group``, ``work_group``, ``vector``, ``native`` and ``atomics`` hold what a user reads: plain Python
functions with a signature, a docstring and, where one makes sense, a simulation, each declared with the code
generator that turns a call of it into LLVM IR, which llvm-spirv translates into one SPIR-V instruction:

- :mod:`generators` has the code generators;
- :mod:`device_function` makes a Python function and a generator one object;
- :mod:`spirv` emits calls and finds array elements, :mod:`checks` refuses wrong types, and has what numba sees of a
  function;
- :mod:`device_types` has the types of arrays, items and groups, how LLVM represents them, and integer arithmetic;
- :mod:`context` is the target: what numba may use, how functions call each other, where their code is kept.

Where numba-dpex is not installed, numba types a kernel and lowers it to LLVM IR; LLVM's SPIR-V back end, which the
wheels of llvmlite carry from 0.45 on, turns that into a module. Nothing else is needed. This compiler alone has these:

- :mod:`pipeline` compiles one Python function for argument types;
- :mod:`items` and :mod:`calls` are what kernels use of `numba_sycl.kernel_api`, of Python and of ``math``;
- :mod:`compile` is all of it, and :mod:`back_end` runs LLVM.
"""

from typing import Final

#: The calling convention of device functions.
SPIR_FUNC: Final = "spir_func"

__all__ = [
    "SPIR_FUNC",
    "back_end",
    "compile",
    "device_function",
    "device_types",
    "integers",
]
