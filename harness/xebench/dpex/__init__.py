"""An extension of numba-dpex 0.23: kernel options, group algorithms, prepared launches, a SPIR-V cache, repairs.

An extension of numba-dpex that can be used without the rest of the harness. Importing it loads the SYCL runtime
(``xebench.system.runtime.load``, which does nothing when dpctl is importable already) and repairs numba-dpex once for
this process (``xebench.dpex.repairs``). Without numba-dpex (`xebench.system.runtime.packages`) kernels are compiled by
our own target of numba (``xebench.dpex.code_generation``); all that builds and launches them is the same.

Example:
    >>> compiled = compile_kernel(kernel, index_space, args, cache=SpirvCache())
    >>> launch = PreparedLaunch(build(compiled, queue), queue, index_space, args)
    >>> event = launch.submit()
    >>> submit_ns, start_ns, end_ns = event.times()
"""

# ruff: noqa: E402  (nothing of numba-dpex can be imported before the runtime is loaded)
from __future__ import annotations

from typing import TYPE_CHECKING

from xebench.system.runtime.loading import load

load()

from xebench.dpex import atomics, kernel_api, native, sub_group, vector, work_group
from xebench.dpex.compiler import compile_kernel
from xebench.dpex.decorators import device_func, kernel, load_numba_dpex, specialize
from xebench.dpex.device_kernel import DeviceKernel, build, separate_context
from xebench.dpex.dpex_errors import (
    ArgumentError,
    CommandRefused,
    DpexError,
    IndexSpaceError,
    KernelBuildError,
    KernelCompileError,
    NeedsCompiler,
    NeedsOcloc,
    NeedsSyclCompiler,
    NotSimulated,
    OptionError,
    ProfilingUnavailable,
    RepairError,
    SubmissionError,
    UnsupportedByDevice,
)
from xebench.dpex.events import DeviceEvent
from xebench.dpex.foreign_kernel import ForeignKernel, opencl_kernel, spirv_kernel
from xebench.dpex.kernel_options import KernelOptions, options_of
from xebench.dpex.launch import PreparedLaunch
from xebench.dpex.parametric_kernel import ParametricKernel
from xebench.dpex.signature import CompiledKernel
from xebench.dpex.spirv_cache import SpirvCache
from xebench.dpex.sycl_source import sycl_kernel
from xebench.system.runtime.packages import is_current

if TYPE_CHECKING or is_current():
    from xebench.dpex.drop_in import call_kernel, call_kernel_async
else:
    from numba_dpex import call_kernel, call_kernel_async

    from xebench.dpex import numba_compiler, repairs

    repairs.apply()
    numba_compiler.install_translation()
    numba_compiler.install_launches()

from xebench.dpex.numba_dpex_names import as_numba_dpex
from xebench.dpex.numba_dpex_names import numba_name as __getattr__  # noqa: F401  (types, for signatures of kernels)

NdRange, Range = kernel_api.NdRange, kernel_api.Range

__all__ = [
    "ArgumentError",
    "CommandRefused",
    "CompiledKernel",
    "DeviceEvent",
    "DeviceKernel",
    "DpexError",
    "ForeignKernel",
    "IndexSpaceError",
    "KernelBuildError",
    "KernelCompileError",
    "KernelOptions",
    "NdRange",
    "NeedsCompiler",
    "NeedsOcloc",
    "NeedsSyclCompiler",
    "NotSimulated",
    "OptionError",
    "ParametricKernel",
    "PreparedLaunch",
    "ProfilingUnavailable",
    "Range",
    "RepairError",
    "SpirvCache",
    "SubmissionError",
    "UnsupportedByDevice",
    "as_numba_dpex",
    "atomics",
    "build",
    "call_kernel",
    "call_kernel_async",
    "compile_kernel",
    "compiler",
    "device_func",
    "device_kernel",
    "direct_calls",
    "dpex_errors",
    "events",
    "foreign_kernel",
    "kernel",
    "kernel_api",
    "kernel_store",
    "launch",
    "load_numba_dpex",
    "narrow",
    "native",
    "native_handles",
    "opencl_kernel",
    "openmp",
    "options_of",
    "separate_context",
    "signature",
    "specialize",
    "spirv_cache",
    "spirv_kernel",
    "sub_group",
    "sycl_kernel",
    "vector",
    "work_group",
]
