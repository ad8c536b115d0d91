"""What numba-dpex 0.23 lacks: kernel options, group algorithms, prepared launches, a SPIR-V cache, repairs.

An extension of numba-dpex that can be used without the rest of the harness. Importing it loads the SYCL runtime
(``harness.runtime.load``, which does nothing when dpctl is importable already) and repairs numba-dpex once for
this process (``harness.dpex.repairs``).

Example:
    >>> compiled = compile_kernel(kernel, index_space, args, cache=SpirvCache())
    >>> launch = PreparedLaunch(build(compiled, queue), queue, index_space, args)
    >>> event = launch.submit()
    >>> submit_ns, start_ns, end_ns = event.times()
"""

from __future__ import annotations

import importlib
from typing import Any

from harness.runtime.loading import load as _load_runtime

_load_runtime()

from harness.dpex import call_kernel, repairs, translate  # noqa: E402

repairs.apply()
translate.install()
call_kernel.install()

_HOMES = {
    "ArgumentError": "dpex_errors",
    "CompiledKernel": "compiler",
    "DeviceEvent": "events",
    "DeviceKernel": "compiler",
    "DpexError": "dpex_errors",
    "IndexSpaceError": "dpex_errors",
    "KernelBuildError": "dpex_errors",
    "KernelCompileError": "dpex_errors",
    "KernelOptions": "kernel_options",
    "LaunchError": "dpex_errors",
    "OptionError": "dpex_errors",
    "PreparedLaunch": "launch",
    "ProfilingUnavailable": "dpex_errors",
    "RepairError": "dpex_errors",
    "SpirvCache": "spirv_cache",
    "UnsupportedByDevice": "dpex_errors",
    "build": "compiler",
    "compile_kernel": "compiler",
    "device_func": "kernel_options",
    "kernel": "kernel_options",
    "options_of": "kernel_options",
    "separate_context": "contexts",
    "specialize": "kernel_options",
}
_SUBMODULES = ("atomics", "native", "sub_group", "vector", "work_group")

__all__ = [*_HOMES, *_SUBMODULES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
