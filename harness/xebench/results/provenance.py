"""The provenance of a run, so that its numbers can be judged later: the content of its manifest."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from numba_sycl.stacks import stack
from xebench.system import PACKAGE
from xebench.system.children.process import run
from xebench.vocabulary import GENERATOR

#: Packages whose version may change a result: the compilers, the runtimes, the drivers, the statistics.
PACKAGES: Final = (
    "numba-dpex",
    "numba",
    "llvmlite",
    "dpctl",
    "dpnp",
    "numpy",
    "intel-sycl-rt",
    "intel-cmplr-lib-rt",
    "intel-cmplr-lib-ur",
    "intel-opencl-rt",
    "intel-openmp",
    "dpcpp-cpp-rt",
    "dpcpp-llvm-spirv",
    "mkl",
    "mkl-dpcpp",
    "tbb",
    "pandas",
    "pyarrow",
    "scipy",
)

_GIT_SECONDS: Final = 10


def manifest(
    command: Sequence[str],
    machine: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    project: Path | None = None,
) -> dict[str, Any]:
    """The manifest of a run that begins now.

    Args:
        command: The command line, as in ``sys.argv``.
        machine: Facts of the machine (processor, memory, load, drivers), found by `xebench.system.runtime`.
        environment: The environment variables that matter, found by `xebench.system.runtime`.
        project: Folder that may be a git checkout; by default the one that holds the package ``harness``.
    """
    return {
        "created": now(),
        "xebench": _version("xebench"),
        "git": git_state(project or PACKAGE.resolve().parents[1]),
        "command": list(command),
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "stack": str(stack()),
        "packages": {name: _version(name) for name in PACKAGES},
        "generator": f"{GENERATOR} of numpy {_version('numpy')}",
        "environment": dict(environment),
        "machine": dict(machine),
    }


def git_state(folder: Path) -> dict[str, Any] | None:
    """``commit`` and ``dirty`` of the checkout at ``folder``; None when it is none or git is missing."""
    if not (folder / ".git").exists():
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain")
    if commit is None or changes is None:
        return None
    return {"commit": commit, "dirty": bool(changes)}


def now() -> str:
    """The time in UTC as ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = run(["git", "-C", str(folder), *arguments], _GIT_SECONDS, errors=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
