"""numba-dpex's kernel language on today's Python, numba and dpctl: SYCL kernels in Python.

Importing this package loads neither numpy, numba nor the SYCL runtime; dpctl and dpnp may be imported before or after
it. Kernels are compiled by a target of numba (``numba_sycl.code_generation``).

Example:
    >>> import dpnp
    >>> import numba_sycl
    >>> from numba_sycl import kernel_api as kapi
    >>> @numba_sycl.kernel
    ... def double(item: kapi.Item, a):
    ...     i = item.get_id(0)
    ...     a[i] = 2 * a[i]
    >>> a = dpnp.arange(8)
    >>> numba_sycl.call_kernel(double, numba_sycl.Range(8), a)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from numba_sycl import sycl_imports
from numba_sycl.lazy import lazily

if TYPE_CHECKING:
    from numba_sycl import atomics, kernel_api, native, sub_group, vector, work_group
    from numba_sycl.compiler import compile_kernel
    from numba_sycl.decorators import device_func, kernel, specialize
    from numba_sycl.device_kernel import DeviceKernel, build, separate_context
    from numba_sycl.drop_in import call_kernel, call_kernel_async
    from numba_sycl.errors import (
        ArgumentError,
        BrokenEnvironment,
        CommandRefused,
        IndexSpaceError,
        KernelBuildError,
        KernelCompileError,
        KernelError,
        NotSimulated,
        OptionError,
        ProfilingUnavailable,
        SubmissionError,
        UnsupportedByDevice,
    )
    from numba_sycl.events import DeviceEvent
    from numba_sycl.kernel_api import NdRange, Range
    from numba_sycl.kernel_options import KernelOptions, options_of
    from numba_sycl.launch import PreparedLaunch
    from numba_sycl.numba_dpex_names import as_numba_dpex
    from numba_sycl.parametric_kernel import ParametricKernel
    from numba_sycl.signature import CompiledKernel
    from numba_sycl.spirv_cache import SpirvCache

__version__ = "0.1.0"
__all__ = [
    "ArgumentError",
    "BrokenEnvironment",
    "CommandRefused",
    "CompiledKernel",
    "DeviceEvent",
    "DeviceKernel",
    "IndexSpaceError",
    "KernelBuildError",
    "KernelCompileError",
    "KernelError",
    "KernelOptions",
    "NdRange",
    "NotSimulated",
    "OptionError",
    "ParametricKernel",
    "PreparedLaunch",
    "ProfilingUnavailable",
    "Range",
    "SpirvCache",
    "SubmissionError",
    "UnsupportedByDevice",
    "as_numba_dpex",
    "atomics",
    "build",
    "call_kernel",
    "call_kernel_async",
    "compile_kernel",
    "device_func",
    "kernel",
    "kernel_api",
    "native",
    "options_of",
    "separate_context",
    "specialize",
    "sub_group",
    "vector",
    "work_group",
]

sycl_imports.watch()

_MODULES = ("atomics", "kernel_api", "native", "sub_group", "vector", "work_group")

_named = lazily(
    __name__,
    {
        "numba_sycl.compiler": ("compile_kernel",),
        "numba_sycl.decorators": (
            "device_func",
            "kernel",
            "specialize",
        ),
        "numba_sycl.device_kernel": (
            "DeviceKernel",
            "build",
            "separate_context",
        ),
        "numba_sycl.errors": (
            "BrokenEnvironment",
            "ArgumentError",
            "CommandRefused",
            "KernelError",
            "IndexSpaceError",
            "KernelBuildError",
            "KernelCompileError",
            "NotSimulated",
            "OptionError",
            "ProfilingUnavailable",
            "SubmissionError",
            "UnsupportedByDevice",
        ),
        "numba_sycl.events": ("DeviceEvent",),
        "numba_sycl.kernel_api": (
            "NdRange",
            "Range",
        ),
        "numba_sycl.kernel_options": (
            "KernelOptions",
            "options_of",
        ),
        "numba_sycl.launch": ("PreparedLaunch",),
        "numba_sycl.numba_dpex_names": ("as_numba_dpex",),
        "numba_sycl.parametric_kernel": ("ParametricKernel",),
        "numba_sycl.signature": ("CompiledKernel",),
        "numba_sycl.spirv_cache": ("SpirvCache",),
    },
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in ("call_kernel", "call_kernel_async"):
        return getattr(_launches(), name)
    try:
        return _named(name)
    except AttributeError:
        if name.startswith("_"):
            raise
    from numba_sycl.numba_names import numba_name  # types, for signatures of kernels

    return numba_name(name)


def _launches() -> Any:
    """The module that has ``call_kernel`` on this stack."""
    from numba_sycl.stacks import is_current, numba_dpex

    return import_module("numba_sycl.drop_in") if is_current() else numba_dpex()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
