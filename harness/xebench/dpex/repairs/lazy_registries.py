"""Python's builtins known to the kernel compiler before the first ``call_kernel``.

Symptom: compiling a kernel before any ``call_kernel`` fails with "No definition for lowering range".
Cause: numba's modules that lower ranges, tuples, iterators and so on register themselves when they are
imported, which only the host target does, when it is first used.
Cure: import them. (Refreshing numba-dpex's host target instead breaks ``dpnp.empty`` in ``dpjit``.)
"""

from __future__ import annotations

import importlib

_MODULES = (
    "numba.core.optional",
    "numba.cpython.builtins",
    "numba.cpython.enumimpl",
    "numba.cpython.iterators",
    "numba.cpython.numbers",
    "numba.cpython.rangeobj",
    "numba.cpython.slicing",
    "numba.cpython.tupleobj",
    "numba.misc.literal",
    "numba.np.arraymath",
    "numba.np.arrayobj",
)


def apply() -> None:
    """Import the modules; they do the rest."""
    for name in _MODULES:
        importlib.import_module(name)
