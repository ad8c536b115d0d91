"""What numba-dpex 0.23 lacks: kernel options, group algorithms, prepared launches, a SPIR-V cache, repairs.

An extension of numba-dpex that can be used without the rest of the harness. Importing it loads the SYCL runtime
(``harness.runtime.load``, which does nothing when dpctl is importable already) and repairs numba-dpex once for
this process (``harness.dpex.repairs``). Without numba-dpex (`harness.runtime.stack`) kernels that were compiled
elsewhere are looked up (``harness.dpex.shipped``); all that builds and launches them is the same.

Example:
    >>> compiled = compile_kernel(kernel, index_space, args, cache=SpirvCache())
    >>> launch = PreparedLaunch(build(compiled, queue), queue, index_space, args)
    >>> event = launch.submit()
    >>> submit_ns, start_ns, end_ns = event.times()
"""

# ruff: noqa: E402  (nothing of numba-dpex can be imported before the runtime is loaded)
from __future__ import annotations

from harness.runtime.loading import load

load()

from harness.dpex import atomics, kernel_api, native, sub_group, vector, work_group
from harness.dpex.compiled_kernel import CompiledKernel
from harness.dpex.compiler import compile_kernel
from harness.dpex.contexts import separate_context
from harness.dpex.decorators import device_func, kernel, load_numba_dpex, options_of, specialize
from harness.dpex.device_kernel import DeviceKernel, build
from harness.dpex.dpex_errors import (
    ArgumentError,
    DpexError,
    IndexSpaceError,
    KernelBuildError,
    KernelCompileError,
    NeedsCompiler,
    NotShipped,
    OptionError,
    ProfilingUnavailable,
    RepairError,
    SubmissionError,
    UnsupportedByDevice,
)
from harness.dpex.events import DeviceEvent
from harness.dpex.foreign_kernel import ForeignKernel, opencl_kernel, spirv_kernel
from harness.dpex.kernel_options import KernelOptions
from harness.dpex.launch import PreparedLaunch
from harness.dpex.spirv_cache import SpirvCache
from harness.runtime.stack import is_current

if not is_current():
    from harness.dpex import call_kernel, repairs, translate

    repairs.apply()
    translate.install()
    call_kernel.install()

__all__ = [
    "ArgumentError",
    "CompiledKernel",
    "DeviceEvent",
    "DeviceKernel",
    "DpexError",
    "ForeignKernel",
    "IndexSpaceError",
    "KernelBuildError",
    "KernelCompileError",
    "KernelOptions",
    "NeedsCompiler",
    "NotShipped",
    "OptionError",
    "PreparedLaunch",
    "ProfilingUnavailable",
    "RepairError",
    "SpirvCache",
    "SubmissionError",
    "UnsupportedByDevice",
    "atomics",
    "build",
    "compile_kernel",
    "device_func",
    "kernel",
    "kernel_api",
    "load_numba_dpex",
    "native",
    "opencl_kernel",
    "options_of",
    "separate_context",
    "specialize",
    "spirv_kernel",
    "sub_group",
    "vector",
    "work_group",
]
