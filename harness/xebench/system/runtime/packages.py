"""Check that the packages of this environment fit together: by metadata, without imports."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from numba_sycl.stacks import NUMBA_RANGE, in_conda, installed_version, is_current, numba_fault, release
from xebench.system import PACKAGE

Severity = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """The result of one examination.

    Attributes:
        topic: ``python``, ``packages``, ``runtime``, ``opencl``, ``level zero`` or ``devices``.
        status: ``ok``, ``warning`` (usable all the same) or ``error``.
        title: subject of the examination, in a few words.
        detail: the result, one line.
        next_step: advice, one line; empty if there is nothing to do.
    """

    topic: str
    status: Severity
    title: str
    detail: str
    next_step: str = ""

    def as_line(self) -> str:
        """The finding as the one line of an error message."""
        line = f"{self.title}: {self.detail}"
        return f"{line}: {self.next_step}" if self.next_step else line


#: An entry of the lock.
_LOCKED: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^ ]+)", re.MULTILINE)
# First supported Python, and the first without wheels of the pinned stack.
FIRST_PYTHON, BEYOND_PINNED = (3, 11), (3, 12)

#: Installs the whole pinned set.
SETUP: Final = "xebench setup --kernels"

# Packages of the current stack; the rest are their dependencies.
_CURRENT = ("dpctl", "dpnp", "intel-opencl-rt")

# Packages of the pinned stack that only work together, in the versions of the lock.
_PINNED = (
    "numba-dpex",
    "numba",
    "llvmlite",
    "dpctl",
    "dpnp",
    "numpy",
    "intel-sycl-rt",
    "intel-cmplr-lib-rt",
    "intel-cmplr-lib-ur",
    "intel-openmp",
    "dpcpp-cpp-rt",
    "dpcpp-llvm-spirv",
    "mkl",
    "mkl-dpcpp",
    "intel-opencl-rt",
)


def pinned_versions() -> dict[str, str]:
    """Package name to exact version of the pinned stack; empty where the lock is missing."""
    locked = _locked_versions()
    return {name: locked[name] for name in _PINNED if name in locked}


def _locked_versions() -> dict[str, str]:
    file = lock_file()
    return dict(_LOCKED.findall(file.read_text(encoding="utf-8"))) if file.is_file() else {}


def mend_command(packages: Iterable[str]) -> str:
    """The command that installs ``packages`` in the versions that this project needs.

    ``--no-deps``, since no resolver accepts the pinned set: the CPU driver is newer than its SYCL runtime allows.
    """
    if is_current():
        installer = "conda install" if in_conda() else f"{shlex.quote(sys.executable)} -m pip install --upgrade"
        return f"run {installer} {' '.join(packages)}"
    if in_conda():
        return "run conda env update --file conda-env.yml"
    locked = _locked_versions()
    specs = " ".join(shlex.quote(f"{name}=={locked[name]}" if name in locked else name) for name in packages)
    return f"run {shlex.quote(sys.executable)} -m pip install --no-deps --force-reinstall {specs}"


def environment_command(python: str = "") -> str:
    """The command that makes the whole environment again.

    Args:
        python: version of Python to make it with, if this is not the right one.
    """
    if is_current():
        return mend_command([*_CURRENT])
    if in_conda():
        return "recreate the environment: conda env create --file conda-env.yml"
    if not python:
        return f"run {SETUP}"
    return f"recreate the environment: make clean install PYTHON=/path/to/python{python}"


def lock_file() -> Path:
    """The pinned set with its hashes: in this package where a wheel brought it, beside it in a source tree."""
    installed = PACKAGE.resolve() / "requirements.lock"
    return installed if installed.is_file() else installed.parents[2] / installed.name


# Packages that are imported, and their modules: they must be there. The others bring shared libraries, which
# are looked for one by one (libraries.py), since conda installs those without Python metadata.
IMPORTED = {
    "numba-dpex": "numba_dpex",
    "numba": "numba",
    "llvmlite": "llvmlite",
    "dpctl": "dpctl",
    "dpnp": "dpnp",
    "numpy": "numpy",
    "dpcpp-llvm-spirv": "dpcpp_llvm_spirv",
}

# How many leading numbers of the version must agree: numba-dpex is built against the binary interface of one
# release series of these. Another version of what is not listed is worth a warning.
BINDING = {"numba-dpex": 2, "numba": 2, "llvmlite": 2, "dpctl": 2, "dpnp": 2, "numpy": 1, "intel-sycl-rt": 2}

# Imported packages of the current stack, with the first supported version: dpctl 0.18 to 0.20 cannot be loaded with
# the SYCL runtime that they require.
CURRENT = {"dpctl": "0.21", "dpnp": "0.19", "numpy": "1.26"}


def python_finding(version: tuple[int, int] | None = None) -> Finding:
    """A finding on this Python: can it have the packages of its stack?"""
    version = version or (sys.version_info.major, sys.version_info.minor)
    first = FIRST_PYTHON
    running = f"{version[0]}.{version[1]}"
    if first <= version and (is_current() or version < BEYOND_PINNED):
        return Finding("python", "ok", "Python", f"{running} ({sys.executable})")
    wanted = f"{first[0]}.{first[1]}"
    detail = f"numba-dpex has no build for {running}, {wanted} is needed"
    if is_current():
        detail = f"{running} is too old, {wanted} or later is needed"
    return Finding("python", "error", "Python", detail, environment_command(wanted))


def package_findings(
    pinned: Mapping[str, str] | None = None,
    version_of: Callable[[str], str | None] = installed_version,
    importable: Callable[[str], bool] | None = None,
) -> list[Finding]:
    """One finding for each pinned package that is installed, or that is imported and missing.

    Args:
        pinned: package to expected version; those of the lock by default.
        version_of: the installed version of a package, or None.
        importable: True if a module can be found; called when a package has no metadata.
    """
    if pinned is None and is_current():
        return current_findings(version_of)
    pinned = pinned_versions() if pinned is None else pinned
    importable = importable or _importable
    findings = []
    for package, expected in pinned.items():
        installed = version_of(package)
        if installed is not None:
            findings.append(_compare(package, installed, expected))
        elif package in IMPORTED and not importable(IMPORTED[package]):
            step = mend_command([package])
            detail = f"is not installed ({expected} is needed)"
            findings.append(Finding("packages", "error", package, detail, step))
    return findings


def current_findings(version_of: Callable[[str], str | None] = installed_version) -> list[Finding]:
    """One finding for each package of the current stack.

    Args:
        version_of: the installed version of a package, or None.
    """
    return [_at_least(package, version_of(package), first) for package, first in CURRENT.items()]


def numba_finding(version_of: Callable[[str], str | None] = installed_version) -> Finding:
    """A finding on the numba that compiles kernels on the current stack.

    Args:
        version_of: the installed version of a package, or None.
    """
    fault = numba_fault(version_of("numba"))
    if fault is None:
        versions = f"numba {version_of('numba')} (llvmlite {version_of('llvmlite')})"
        return Finding("runtime", "ok", "kernels", f"compiled by {versions}")
    return Finding("runtime", "warning", "kernels", fault, mend_command([NUMBA_RANGE]))


def mend_findings(wrong: Sequence[Finding]) -> str:
    """The one command that mends all these packages; if they are many, it is the environment that is wrong."""
    return mend_command(finding.title for finding in wrong) if len(wrong) <= 3 else environment_command()


def _at_least(package: str, installed: str | None, first: str) -> Finding:
    if installed is not None and release(installed, 2) >= release(first, 2):
        return Finding("packages", "ok", package, installed)
    detail = f"{installed} is installed" if installed else "is not installed"
    return Finding("packages", "error", package, f"{detail} ({first} or later is needed)", mend_command([package]))


def _compare(package: str, installed: str, expected: str) -> Finding:
    if installed == expected:
        return Finding("packages", "ok", package, installed)
    detail = f"{installed} is installed, {expected} is needed"
    status: Severity = "error" if not _compatible(package, installed, expected) else "warning"
    return Finding("packages", status, package, detail, mend_command([package]))


def _compatible(package: str, installed: str, expected: str) -> bool:
    count = BINDING.get(package, 0)
    return release(installed, count) == release(expected, count)


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
