"""xebench: does the advice of the oneAPI GPU Optimization Guide hold on this device, and by how much?

A benchmark file, a script or a notebook needs only what is listed here. Importing this package loads neither the SYCL
runtime nor pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xebench.callables.functions import compare, measure, open_session
    from xebench.dpex import device_func, kernel, kernel_api, opencl_kernel, specialize, spirv_kernel
    from xebench.patterns.declaring import Claim, Figure, Pattern, Problem, ceil_div, fit, inout, output
    from xebench.tables import load_run

__version__ = "0.1.0"
__all__ = [
    "Claim",
    "Figure",
    "Pattern",
    "Problem",
    "ceil_div",
    "compare",
    "device_func",
    "fit",
    "inout",
    "kernel",
    "kernel_api",
    "load_run",
    "measure",
    "open_session",
    "opencl_kernel",
    "output",
    "specialize",
    "spirv_kernel",
]

#: What benchmark files declare; `xebench list` needs none of it.
_OF_PATTERNS = ("Claim", "Figure", "Pattern", "Problem", "ceil_div", "fit", "inout", "output")
#: What loads the SYCL runtime when it is asked for.
_OF_CALLABLES = ("compare", "measure", "open_session")
#: Likewise, looked up in ``xebench.dpex``.
_OF_KERNELS = ("device_func", "kernel", "kernel_api", "opencl_kernel", "specialize", "spirv_kernel")


def __getattr__(name: str) -> Any:
    if name == "load_run":
        from xebench.tables import load_run

        return load_run
    if name in _OF_PATTERNS:
        from xebench.patterns import declaring

        return getattr(declaring, name)
    if name in _OF_CALLABLES:
        from xebench.callables.functions import callables

        return getattr(callables, name)
    if name in _OF_KERNELS:
        from xebench import dpex

        return getattr(dpex, name)
    raise AttributeError(f"module 'xebench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
