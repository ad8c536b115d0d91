"""Kernels and device functions where numba-dpex is not: the Python function and what was asked of the compilers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xebench.dpex.dpex_errors import NeedsCompiler
from xebench.dpex.kernel_options import NO_OPTIONS, KernelOptions


@dataclass(frozen=True, eq=False)
class SourceFunction:
    """A function that kernels call.

    Attributes:
        py_func: the Python function.
        targetoptions: what numba-dpex would be told, such as its error model.
        options: what a kernel asks of the compilers.
    """

    py_func: Callable[..., Any]
    targetoptions: Mapping[str, Any]
    options: KernelOptions = NO_OPTIONS

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        raise NeedsCompiler(f"a call of {self.py_func.__name__} on the host")


class SourceKernel(SourceFunction):
    """A kernel."""
