"""Which sets of packages are taken for right, and what is said of the others."""

from __future__ import annotations

import pytest

from xebench.system.runtime import packages
from xebench.system.runtime.packages import Finding

PINS = {
    "numba-dpex": "0.23.0",
    "numba": "0.59.1",
    "dpctl": "0.17.0",
    "numpy": "1.26.4",
    "mkl": "2024.2.2",
    "intel-opencl-rt": "2026.2.0",
}


def findings(**changes: str | None) -> dict[str, Finding]:
    """By package, for the right set with some changed (``_`` for ``-``)."""
    installed = PINS | {name.replace("_", "-"): version for name, version in changes.items()}
    found = packages.package_findings(PINS, installed.get, importable=lambda module: False)
    return {finding.title: finding for finding in found}


def test_the_right_set_is_right() -> None:
    found = findings()
    assert set(found) == set(PINS)
    assert all(finding.status == "ok" and not finding.next_step for finding in found.values())


@pytest.mark.parametrize(
    ("package", "version"), [("dpctl", "0.22.1"), ("numba", "0.60.0"), ("numpy", "2.1.0"), ("numba_dpex", "0.22.1")]
)
def test_a_set_that_cannot_work_is_an_error_with_its_command(package: str, version: str) -> None:
    name = package.replace("_", "-")
    finding = findings(**{package: version})[name]
    assert finding.status == "error"
    assert version in finding.detail
    assert PINS[name] in finding.detail
    assert finding.next_step == packages.mend_command([name])
    assert "\n" not in finding.as_line()


@pytest.mark.parametrize(("package", "version"), [("numpy", "1.25.0"), ("numba", "0.59.0"), ("mkl", "2024.1.0")])
def test_a_set_that_may_work_is_a_warning(package: str, version: str) -> None:
    assert findings(**{package: version})[package].status == "warning"


@pytest.mark.parametrize("version", ["2024.2.2", "2027.0.0"])
def test_another_cpu_driver_is_a_warning(version: str) -> None:
    assert findings(intel_opencl_rt=version)["intel-opencl-rt"].status == "warning"


@pytest.mark.usefixtures("pinned")
def test_what_is_imported_must_be_there() -> None:
    finding = findings(dpctl=None)["dpctl"]
    assert finding.status == "error"
    assert finding.detail == "is not installed (0.17.0 is needed)"
    assert "dpctl==0.17.0" in finding.next_step


def test_what_is_not_imported_may_lack_metadata() -> None:
    """Conda installs MKL and the drivers without it; their libraries are looked for one by one."""
    assert "mkl" not in findings(mkl=None)


def test_a_module_without_metadata_is_there() -> None:
    found = packages.package_findings(PINS, lambda name: None, importable=lambda module: True)
    assert found == []


@pytest.mark.usefixtures("pinned")
@pytest.mark.parametrize("version", [(3, 9), (3, 10), (3, 12), (3, 13)])
def test_another_python_is_an_error(version: tuple[int, int]) -> None:
    finding = packages.python_finding(version)
    assert finding.status == "error"
    assert f"{version[0]}.{version[1]}" in finding.detail
    assert "3.11" in finding.next_step


def test_python_3_11_is_right() -> None:
    assert packages.python_finding((3, 11)).status == "ok"


def test_this_environment_is_right() -> None:
    assert {finding.status for finding in packages.package_findings()} == {"ok"}
