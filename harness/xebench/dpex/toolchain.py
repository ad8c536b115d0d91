"""The tools that make a kernel's SPIR-V, with versions: part of the keys on disk, and recorded by a run."""

from __future__ import annotations

import hashlib
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from xebench.system.kernel_pack import compiler_label
from xebench.system.runtime.pins import installed_version
from xebench.system.runtime.stack import is_current

#: Packages that decide what a kernel becomes, the compiler first: numba-dpex, or our own target of numba.
NUMBA_DPEX: Final = ("numba-dpex", "numba", "llvmlite", "dpcpp-llvm-spirv")
OWN: Final = ("xebench", "numba", "llvmlite")


_version = lru_cache(installed_version)  # each takes a millisecond


@lru_cache
def toolchain(*packages: str) -> str:
    """Versions of Python and of packages, and a hash of this room's own source."""
    own = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        own.update(path.read_bytes())
    versions = [f"{name} {_version(name)}" for name in packages]
    return "; ".join([f"python {sys.version}", *versions, f"xebench.dpex {own.hexdigest()}"])


def compiler_versions() -> dict[str, str]:
    """The versions of this stack's compiler."""
    return {name: _version(name) or "?" for name in (OWN if is_current() else NUMBA_DPEX)}


@lru_cache
def this_compiler() -> str:
    """The compiler of this stack as a run names it."""
    return compiler_label(compiler_versions())
