"""Make dpctl, dpnp and, where it is, numba_dpex importable from a clean shell, or say in one line why they are not."""

from __future__ import annotations

import functools
import os

import numba_sycl.loading
from numba_sycl import libraries
from numba_sycl.stacks import CPU_DRIVER, FIRST_GOOD_DRIVER, is_current
from xebench.errors import BrokenEnvironment, some_of
from xebench.system.runtime import gpu_drivers, packages
from xebench.system.runtime.packages import Finding


@functools.cache
def load() -> None:
    """Load the SYCL runtime of this environment, which needs no environment variable; again is free.

    Raises:
        BrokenEnvironment: packages or libraries are missing, or do not fit together.
    """
    prepare()
    _raise(_import_failure())


@functools.cache
def prepare() -> None:
    """`numba_sycl.loading.prepare`, once versions and files are checked.

    Raises:
        BrokenEnvironment: packages or libraries are missing, or do not fit together.
    """
    require_environment()
    _raise(numba_sycl.loading.prepare())


def _raise(failure: tuple[str, str] | None) -> None:
    if failure is not None:
        package, reason = failure
        step = packages.mend_command([package])
        raise BrokenEnvironment(f"the SYCL runtime cannot be loaded ({reason}): {step}")


def require_environment() -> None:
    """Check versions and files without importing or running anything of SYCL.

    Raises:
        BrokenEnvironment: one line that names what is wrong and the command that mends it.
    """
    python = packages.python_finding()
    if python.status == "error":
        raise BrokenEnvironment(python.as_line())
    wrong = [finding for finding in packages.package_findings() if finding.status == "error"]
    if wrong:
        raise BrokenEnvironment(_packages_line(wrong))
    for finding in (compiler_finding(), runtime_finding(), cpu_driver_finding()):
        if finding.status == "error":
            raise BrokenEnvironment(finding.as_line())


def compiler_finding() -> Finding:
    """A finding on numba: does it compile kernels?"""
    if is_current():
        return packages.numba_finding()
    value = os.environ.get("NUMBA_DISABLE_JIT", "0")
    if value.strip() in ("", "0"):
        return Finding("runtime", "ok", "numba", "compiles")
    detail = f"NUMBA_DISABLE_JIT={value} is set, so that no kernel is compiled"
    return Finding("runtime", "error", "numba", detail, "unset NUMBA_DISABLE_JIT")


def runtime_finding() -> Finding:
    """A finding on the shared libraries of the runtime: is each there?"""
    absent = libraries.missing_libraries()
    if not absent:
        where = libraries.sycl_library()
        return Finding("runtime", "ok", "SYCL runtime", f"all libraries found ({where or 'of the system'})")
    owners = list(dict.fromkeys(absent.values()))
    detail = f"{_shortened(list(absent))} missing (package {', '.join(owners)})"
    return Finding("runtime", "error", "SYCL runtime", detail, packages.mend_command(owners))


def cpu_driver_finding() -> Finding:
    """A finding on the CPU device's driver: is there one, and does it compute right?

    Its absence is an error only on a machine where no other device can be.
    """
    driver = libraries.find_library(libraries.CPU_DRIVER_LIBRARY)
    step = packages.mend_command([CPU_DRIVER])
    if driver is None:
        drivers = libraries.existing_drivers(os.environ)
        if libraries.cpu_driver_registered(drivers):
            return Finding("opencl", "ok", "CPU driver", "the system's own")
        detail = f"{libraries.CPU_DRIVER_LIBRARY} is missing (package {CPU_DRIVER}), so no CPU device"
        others = drivers or gpu_drivers.nodes()  # whether a driver offers a device, and a good one, is seen later
        return Finding("opencl", "warning" if others else "error", "CPU driver", detail, step)
    series = libraries.cpu_driver_series(driver)
    if series is not None and series < FIRST_GOOD_DRIVER:
        detail = f"series {series} computes wrong results on newer processors ({driver})"
        return Finding("opencl", "warning", "CPU driver", detail, step)
    return Finding("opencl", "ok", "CPU driver", str(driver.resolve()))


def _packages_line(wrong: list[Finding]) -> str:
    """All wrong packages in one line."""
    named = some_of([f"{finding.title} {finding.detail}" for finding in wrong])
    return f"{named}: {packages.mend_findings(wrong)}"


def _import_failure() -> tuple[str, str] | None:
    """Package and reason, if dpctl cannot be imported although all that it needs is loaded."""
    try:
        import dpctl  # noqa: F401
    except ImportError as error:
        return "dpctl", str(error).partition("\n")[0]
    return None


def _shortened(names: list[str]) -> str:
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "") + (" is" if len(names) == 1 else " are")
