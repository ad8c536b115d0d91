"""xebench: does the advice of the oneAPI GPU Optimization Guide hold on this device, and by how much?

A benchmark file, a script or a notebook needs only what is listed here. Importing this package loads neither the SYCL
runtime nor pandas. dpctl and dpnp may be imported after it, and on the current stack before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba_sycl import additions
from numba_sycl.lazy import lazily

if TYPE_CHECKING:
    from xebench.advisor.advice import advise
    from xebench.dpex import device_func, kernel, kernel_api, opencl_kernel, specialize, spirv_kernel, sycl_kernel
    from xebench.functions import compare, measure, open_session
    from xebench.patterns.pattern import Pattern
    from xebench.patterns.problem import Problem, ceil_div, fit, inout, output
    from xebench.records.claim import Claim, Figure
    from xebench.results import load_run

__version__ = "0.1.0"
__all__ = [
    "Claim",
    "Figure",
    "Pattern",
    "Problem",
    "advise",
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
    "sycl_kernel",
]

additions.adapter_module = "xebench.dpex"

__getattr__ = lazily(
    __name__,
    {
        "xebench.advisor.advice": ("advise",),
        "xebench.functions": ("compare", "measure", "open_session"),
        "xebench.dpex": (
            "device_func",
            "kernel",
            "kernel_api",
            "opencl_kernel",
            "specialize",
            "spirv_kernel",
            "sycl_kernel",
        ),
        "xebench.patterns.pattern": ("Pattern",),
        "xebench.patterns.problem": ("Problem", "ceil_div", "fit", "inout", "output"),
        "xebench.results": ("load_run",),
        "xebench.records.claim": ("Claim", "Figure"),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
