"""MPI's launcher, and Python's way to MPI: what patterns with ranks need."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Final

from numba_sycl.stacks import installed_version
from xebench.errors import Unsupported
from xebench.system.runtime.packages import Finding

_NAME: Final = "mpiexec"
_HOW: Final = "pip install mpi4py mpich"


def find_launcher() -> Path:
    """The path of MPI's launcher: beside this Python's programs, else on the path.

    Raises:
        Unsupported: there is no MPI, or Python cannot talk to it.
    """
    if lacking := _lacking():
        raise Unsupported(f"needs MPI: {_HOW} (there is no {lacking})")
    launcher = _launcher()
    assert launcher is not None
    return launcher


def _launcher() -> Path | None:
    beside = Path(sys.executable).with_name(_NAME)
    found = str(beside) if beside.exists() else shutil.which(_NAME)
    return None if found is None else Path(found)


def _lacking() -> str:
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py"
    return "" if _launcher() else _NAME


def mpi_finding() -> Finding:
    """A finding on MPI. Without it patterns with ranks are skipped, and all others run."""
    if lacking := _lacking():
        return Finding("runtime", "ok", "MPI", f"not needed but for patterns with ranks: there is no {lacking}", _HOW)
    return Finding("runtime", "ok", "MPI", f"{_launcher()}, mpi4py {installed_version('mpi4py')}")
