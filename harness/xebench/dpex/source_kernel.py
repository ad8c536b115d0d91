"""Kernels and device functions without numba-dpex: the Python function and its options for the compilers."""

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
        overloads: the types of arguments that it is compiled for, where its decorator was given some; a kernel's are
            `Signature`, a device function's are numba's types. None: for all that it is called with.
    """

    py_func: Callable[..., Any]
    targetoptions: Mapping[str, Any]
    options: KernelOptions = NO_OPTIONS
    overloads: tuple[Any, ...] = ()

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """What it gives in plain Python, where `kernel_api.call_kernel` runs a kernel that calls it."""
        return self.py_func(*arguments, **options)


class SourceKernel(SourceFunction):
    """A kernel."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Raise: a kernel is launched."""
        raise NeedsCompiler(f"a call of {self.py_func.__name__} on the host")
