"""Do the installed Python and packages fit together? Answered from metadata, without importing any."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence

from xebench.system.runtime import pins
from xebench.system.runtime.findings import Finding, Severity
from xebench.system.runtime.stack import is_current

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

# Of the current stack, what is imported, from its first version that will do: dpctl 0.18 to 0.20 cannot be loaded with
# the SYCL runtime that they ask for.
CURRENT = {"dpctl": "0.21", "dpnp": "0.19", "numpy": "1.26"}

# numba that compiles kernels where numba-dpex does not: the first, and the first of which it was not seen.
NUMBA = ("0.62", "0.69")

CPU_DRIVER = "intel-opencl-rt"
# First release series of the CPU driver that computes right on every processor.
FIRST_GOOD_DRIVER = 2025


def python_finding(version: tuple[int, int] | None = None) -> Finding:
    """A finding on this Python: can it have the packages of its stack?"""
    version = version or (sys.version_info.major, sys.version_info.minor)
    first = pins.FIRST_PYTHON
    running = f"{version[0]}.{version[1]}"
    if first <= version and (is_current() or version < pins.BEYOND_PINNED):
        return Finding("python", "ok", "Python", f"{running} ({sys.executable})")
    wanted = f"{first[0]}.{first[1]}"
    detail = f"numba-dpex has no build for {running}, {wanted} is needed"
    if is_current():
        detail = f"{running} is too old, {wanted} or later is needed"
    return Finding("python", "error", "Python", detail, pins.environment_command(wanted))


def package_findings(
    pinned: Mapping[str, str] | None = None,
    version_of: Callable[[str], str | None] = pins.installed_version,
    importable: Callable[[str], bool] | None = None,
) -> list[Finding]:
    """One finding for each pinned package that is installed, or that is imported and missing.

    Args:
        pinned: package to expected version; the distribution's own pins by default.
        version_of: the installed version of a package, or None.
        importable: whether a module can be found; asked when a package has no metadata.
    """
    if pinned is None and is_current():
        return current_findings(version_of)
    pinned = pins.pinned_versions() if pinned is None else pinned
    importable = importable or _importable
    findings = []
    for package, expected in pinned.items():
        installed = version_of(package)
        if installed is not None:
            findings.append(_compare(package, installed, expected))
        elif package in IMPORTED and not importable(IMPORTED[package]):
            step = pins.mend_command([package], pinned)
            detail = f"is not installed ({expected} is needed)"
            findings.append(Finding("packages", "error", package, detail, step))
    return findings


def current_findings(version_of: Callable[[str], str | None] = pins.installed_version) -> list[Finding]:
    """One finding for each package of the current stack.

    Args:
        version_of: the installed version of a package, or None.
    """
    return [_at_least(package, version_of(package), first) for package, first in CURRENT.items()]


def numba_finding(version_of: Callable[[str], str | None] = pins.installed_version) -> Finding:
    """A finding on the numba that compiles kernels on the current stack, if any; its own kernels need none.

    Args:
        version_of: the installed version of a package, or None.
    """
    numba, (first, beyond) = version_of("numba"), NUMBA
    if numba is None:
        return Finding("runtime", "ok", "kernels", "shipped: there is no numba that would compile others")
    if _numbers(first, 2) <= _numbers(numba, 2) < _numbers(beyond, 2):
        return Finding("runtime", "ok", "kernels", f"compiled by numba {numba} (llvmlite {version_of('llvmlite')})")
    detail = f"numba {numba} does not compile them, {first} or later and below {beyond} is needed"
    return Finding("runtime", "warning", "kernels", detail, pins.mend_command([f"'numba>={first},<{beyond}'"]))


def mend_command(wrong: Sequence[Finding]) -> str:
    """The one command that mends all these packages; if they are many, it is the environment that is wrong."""
    return pins.mend_command(finding.title for finding in wrong) if len(wrong) <= 3 else pins.environment_command()


def _at_least(package: str, installed: str | None, first: str) -> Finding:
    if installed is not None and _numbers(installed, 2) >= _numbers(first, 2):
        return Finding("packages", "ok", package, installed)
    detail = f"{installed} is installed" if installed else "is not installed"
    return Finding("packages", "error", package, f"{detail} ({first} or later is needed)", pins.mend_command([package]))


def _compare(package: str, installed: str, expected: str) -> Finding:
    if installed == expected:
        return Finding("packages", "ok", package, installed)
    detail = f"{installed} is installed, {expected} is needed"
    status: Severity = "error" if not _compatible(package, installed, expected) else "warning"
    return Finding("packages", status, package, detail, pins.mend_command([package]))


def _compatible(package: str, installed: str, expected: str) -> bool:
    count = BINDING.get(package, 0)
    return _numbers(installed, count) == _numbers(expected, count)


def _numbers(version: str, count: int) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else -1 for part in version.split(".")[:count])


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
