"""The compiler of Python kernels in this process: the stack's, or numba-dpex as it is, by a variable of workers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from numba_sycl.stacks import is_current, this_compiler
from xebench.errors import XebenchError

#: Value of ``--compiler``.
NUMBA_DPEX: Final = "numba-dpex"
_VARIABLE: Final = "XEBENCH_COMPILER"


def variables_for(compiler: str | None) -> Mapping[str, str]:
    """Variables of processes that compile with it, before ``xebench.dpex`` is imported.

    Args:
        compiler: `NUMBA_DPEX`, or None for the stack's compiler.

    Raises:
        XebenchError: the current stack has no numba-dpex.
    """
    if compiler is None:
        return {}
    if is_current():
        step = "run xebench setup --kernels in an environment of Python 3.11"
        raise XebenchError(f"--compiler {compiler}: this environment has no numba-dpex: {step}")
    return {_VARIABLE: compiler}


def is_numba_dpex_as_it_is() -> bool:
    """True if this process compiles our kernels as ``numba_dpex.kernel`` does."""
    return os.environ.get(_VARIABLE) == NUMBA_DPEX


def compiler_name(*, as_it_is: bool) -> str:
    """The name of the compiler, with the versions of its parts in parentheses."""
    return this_compiler("" if as_it_is or is_current() else "with xebench's integers")
