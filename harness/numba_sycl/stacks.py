"""The two stacks of packages: which of them this environment has, by metadata, without imports.

*Pinned* has numba-dpex 0.23 and what works with it, on Python 3.11: numba-dpex compiles kernels there, by an adapter
that this package has not. *Current* has dpctl and numba of today on any Python, and no numba-dpex, which has no release
for them: kernels are compiled by our own target of numba (:mod:`numba_sycl.code_generation`).
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.util
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from numba_sycl import __version__, additions
from numba_sycl.errors import BrokenEnvironment

#: The version of dpctl with which numba-dpex belongs: it is missing there if it cannot be found.
_PINNED_DPCTL: Final = "0.17."


class Stack(StrEnum):
    """The two sets of packages."""

    PINNED = "pinned"
    CURRENT = "current"


@functools.cache
def stack() -> Stack:
    """The stack of this environment; nothing is imported to find out."""
    if importlib.util.find_spec("numba_dpex") is not None or _dpctl_version().startswith(_PINNED_DPCTL):
        return Stack.PINNED
    return Stack.CURRENT


def is_current() -> bool:
    """True if numba-dpex is not installed."""
    return stack() is Stack.CURRENT


def _dpctl_version() -> str:
    try:
        return importlib.metadata.version("dpctl")
    except importlib.metadata.PackageNotFoundError:
        return ""


def installed_version(package: str) -> str | None:
    """Version by the package's metadata, without importing it; None if there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


#: Packages that decide what a kernel becomes, the compiler first: numba-dpex, or our own target of numba.
NUMBA_DPEX: Final = ("numba-dpex", "numba", "llvmlite", "dpcpp-llvm-spirv")

OWN: Final = ("numba-sycl", "numba", "llvmlite")

_known_version = functools.cache(installed_version)  # each takes a millisecond


def compiler_versions() -> dict[str, str]:
    """The versions of this stack's compiler."""
    if not is_current():
        return {name: _known_version(name) or "?" for name in NUMBA_DPEX}
    return {OWN[0]: __version__, **{name: _known_version(name) or "?" for name in OWN[1:]}}


@functools.cache
def this_compiler(addition: str = "") -> str:
    """The compiler of this stack as a run names it: ``numba-dpex 0.23.0 (llvmlite 0.42.0, numba 0.59.1)``.

    Args:
        addition: words after the version, about an adapter's own part.
    """
    (name, version), *parts = compiler_versions().items()
    named = " ".join(filter(None, (name, version, addition)))
    return f"{named} ({', '.join(f'{part} {of}' for part, of in sorted(parts))})"


def in_conda() -> bool:
    """True if this Python belongs to a conda environment."""
    return (Path(sys.prefix) / "conda-meta").is_dir()


# numba for kernels without numba-dpex: the first supported version, and the first untested one.
NUMBA: Final = ("0.62", "0.69")
NUMBA_RANGE: Final = "'numba>={},<{}'".format(*NUMBA)

CPU_DRIVER = "intel-opencl-rt"
# First release series of the CPU driver that computes right on every processor.
FIRST_GOOD_DRIVER = 2025


def numba_fault(numba: str | None) -> str | None:
    """The reason why a version of numba, or none, does not compile kernels; None if it does."""
    first, beyond = NUMBA
    if numba is not None and release(first, 2) <= release(numba, 2) < release(beyond, 2):
        return None
    found = f"numba {numba} does not compile them" if numba else "there is no numba to compile them"
    return f"{found}, {first} or later and below {beyond} is needed"


def check_numba() -> None:
    """Raise an error where no kernel can be compiled.

    Raises:
        BrokenEnvironment: numba is not installed, too old, or newer than what was tested.
    """
    if fault := numba_fault(installed_version("numba")):
        raise BrokenEnvironment(f"kernels: {fault}: run {sys.executable} -m pip install --upgrade {NUMBA_RANGE}")


def release(version: str, count: int) -> tuple[int, ...]:
    """The leading numbers of a version, to compare it by."""
    return tuple(int(part) if part.isdigit() else -1 for part in version.split(".")[:count])


def numba_dpex_adapter() -> Any:
    """The module that has numba-dpex compile kernels; importing it mends numba-dpex.

    Raises:
        BrokenEnvironment: there is none.
    """
    if additions.adapter_module is None:
        raise BrokenEnvironment(
            "numba-dpex is installed, with which this package compiles kernels by xebench alone: import xebench first, "
            "or use an environment without numba-dpex"
        )
    return importlib.import_module(additions.adapter_module)


def numba_dpex() -> Any:
    """The module ``numba_dpex``, mended."""
    numba_dpex_adapter()
    return importlib.import_module("numba_dpex")
