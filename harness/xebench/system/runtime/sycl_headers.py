"""SYCL's headers in the wheel `intel-sycl-rt` (from 2025 on: the current stack), and a compiler that takes them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from numba_sycl import libraries
from numba_sycl.stacks import is_current
from xebench.system.runtime.packages import Finding, mend_command

BUFFERS: Final = "SYCL buffers"
#: The way to buffers where the pinned stack has none.
WITHOUT_LEVEL_ZERO: Final = "run with --device opencl:gpu, or on the current stack (pip install in another environment)"

COMPILERS: Final = ("c++", "g++", "clang++")


def headers() -> Path | None:
    """The folder that is searched for ``sycl/sycl.hpp``; None if there is none."""
    runtime = libraries.sycl_library()
    found = is_current() and runtime is not None and runtime.parent.parent / "include"
    return found if found and (found / "sycl").is_dir() else None


def compiler() -> str | None:
    """The path of a C++ compiler; None if there is none."""
    return next(filter(None, map(shutil.which, COMPILERS)), None)


def obstacle() -> str:
    """The missing part for code with these headers, in a few words; "" if there is all that it needs."""
    if headers() is None:
        return "the headers of intel-sycl-rt 2025 or later"
    return "" if compiler() else "a C++ compiler (Debian: g++)"


def buffers_finding() -> Finding:
    """A finding on ``session.buffer``: whose buffers are there?"""
    lacking = obstacle()
    if not lacking:
        return Finding("runtime", "ok", BUFFERS, f"SYCL's own, and kernels in SYCL C++, by {compiler()}")
    detail = f"OpenCL's, and none on Level Zero: SYCL's own, and kernels in SYCL C++, need {lacking}"
    if not is_current():
        return Finding("runtime", "ok", BUFFERS, detail, f"on Level Zero {WITHOUT_LEVEL_ZERO}")
    step = "install g++ (any package manager)" if headers() else mend_command(["intel-sycl-rt"])
    return Finding("runtime", "warning", BUFFERS, detail, step)
