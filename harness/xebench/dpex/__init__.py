"""An extension of numba-dpex 0.23: kernel options, group algorithms, prepared launches, a SPIR-V cache, repairs.

An extension of numba-dpex that can be used without the rest of the harness. Importing it loads the SYCL runtime
(``xebench.system.runtime.load``, which does nothing when dpctl is importable already). Kernels of its decorator are
compiled for a target of their own (``xebench.dpex.integer_target``); those of ``numba_dpex.kernel`` stay what they are,
but for repairs (``xebench.dpex.repairs``). Without numba-dpex (`xebench.system.runtime.packages`) kernels are compiled
by our own target of numba (``numba_sycl.code_generation``); all that builds and launches them is the same.

Example:
    >>> compiled = compile_kernel(kernel, index_space, args, cache=SpirvCache())
    >>> launch = PreparedLaunch(build(compiled, queue), queue, index_space, args)
    >>> event = launch.submit()
    >>> submit_ns, start_ns, end_ns = event.times()
"""

# ruff: noqa: E402  (nothing of numba-dpex can be imported before the runtime is loaded)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xebench.system.runtime.loading import load

load()

from numba_sycl import atomics, kernel_api, native, sub_group, vector, work_group
from numba_sycl.compiler import compile_kernel
from numba_sycl.decorators import device_func, kernel, specialize
from numba_sycl.device_kernel import DeviceKernel, build, separate_context
from numba_sycl.errors import (
    ArgumentError,
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
from numba_sycl.kernel_options import KernelOptions, options_of
from numba_sycl.launch import PreparedLaunch
from numba_sycl.parametric_kernel import ParametricKernel
from numba_sycl.signature import CompiledKernel
from numba_sycl.spirv_cache import SpirvCache
from numba_sycl.stacks import is_current, numba_dpex
from xebench.dpex.errors import NeedsCompiler, NeedsOcloc, NeedsSyclCompiler, RepairError
from xebench.dpex.foreign_kernel import ForeignKernel
from xebench.dpex.opencl_source import opencl_kernel, spirv_kernel
from xebench.dpex.sycl_source import sycl_kernel

if TYPE_CHECKING or is_current():
    from numba_sycl.drop_in import call_kernel, call_kernel_async
else:
    from numba_dpex import call_kernel, call_kernel_async

    from xebench.dpex import launch_options, repairs
    from xebench.dpex.integer_target import decorate  # noqa: F401  (for `numba_sycl`, as is the next)
    from xebench.dpex.numba_compiler import compile_by_numba  # noqa: F401

    repairs.apply()
    launch_options.install()

from numba_sycl.numba_dpex_names import as_numba_dpex
from numba_sycl.numba_names import numba_name as __getattr__  # noqa: F401  (types, for signatures of kernels)

NdRange, Range = kernel_api.NdRange, kernel_api.Range


def load_numba_dpex() -> Any:
    """The module ``numba_dpex``, for what only it has, such as its own ``call_kernel``.

    Raises:
        NeedsCompiler: the current stack has none; a variant that needs it is skipped there.
    """
    if is_current():
        raise NeedsCompiler("numba_dpex.call_kernel and the like")
    return numba_dpex()


__all__ = [
    "ArgumentError",
    "CommandRefused",
    "CompiledKernel",
    "DeviceEvent",
    "DeviceKernel",
    "ForeignKernel",
    "IndexSpaceError",
    "KernelBuildError",
    "KernelCompileError",
    "KernelError",
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
    "binaries",
    "build",
    "call_kernel",
    "call_kernel_async",
    "compile_kernel",
    "device_func",
    "direct_calls",
    "foreign_parameters",
    "kernel",
    "kernel_api",
    "load_numba_dpex",
    "loaded_binaries",
    "native",
    "opencl_kernel",
    "openmp",
    "options_of",
    "separate_context",
    "specialize",
    "spirv_facts",
    "spirv_kernel",
    "sub_group",
    "sycl_calls",
    "sycl_kernel",
    "vector",
    "work_group",
]
