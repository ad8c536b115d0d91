"""SYCL's headers in the wheel `intel-sycl-rt` (from 2025 on: the current stack), and a compiler that takes them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from numba_sycl import libraries
from numba_sycl.stacks import is_current
from xebench.system.runtime.packages import Finding, mend_command

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
    lacking, title = obstacle(), "SYCL buffers"
    if not lacking:
        return Finding("runtime", "ok", title, f"SYCL's own, and kernels in SYCL C++, by {compiler()}")
    detail = f"OpenCL's, and none on Level Zero: SYCL's own, and kernels in SYCL C++, need {lacking}"
    if not is_current():
        return Finding("runtime", "ok", title, detail)
    step = "install g++ (any package manager)" if headers() else mend_command(["intel-sycl-rt"])
    return Finding("runtime", "warning", title, detail, step)
