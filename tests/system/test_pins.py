"""Pins come from the distribution's own metadata, and the mending commands from the pins."""

from __future__ import annotations

import importlib.metadata
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from xebench.system.runtime import packages

SOURCE = Path(__file__).parents[2] / "pyproject.toml"


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads(SOURCE.read_text())["project"]
    return table


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", absent)
    monkeypatch.setattr(importlib.metadata, "metadata", absent)
    monkeypatch.setattr(importlib.metadata, "version", absent)


def test_only_exact_versions_are_pins() -> None:
    requirements = ["dpctl==0.17.0", "numpy (==1.26.4)", "Tbb (==2023.*)", "click>=8.1", "scipy!=1.0", "rich", "a<=2"]
    assert packages.parse_pins(requirements) == {"dpctl": "0.17.0", "numpy": "1.26.4", "tbb": "2023.*"}


def test_pins_are_those_of_the_project() -> None:
    assert packages.pinned_versions() == packages.parse_pins(project()["optional-dependencies"]["kernels"])
    assert packages.pinned_versions()["numba-dpex"].startswith("0.23.")
    assert packages.parse_pins(project()["dependencies"]) == {}  # any resolver takes them


@pytest.mark.usefixtures("not_installed")
def test_a_source_tree_that_is_not_installed_reads_its_own_pyproject() -> None:
    assert packages.pinned_versions() == packages.parse_pins(project()["optional-dependencies"]["kernels"])
    assert packages.installed_version("dpctl") is None


def test_python_bounds() -> None:
    assert project()["requires-python"] == f">={packages.FIRST_PYTHON[0]}.{packages.FIRST_PYTHON[1]}"
    assert packages.BEYOND_PINNED > packages.FIRST_PYTHON


def test_what_metadata_says_of_an_extra_is_a_pin() -> None:
    assert packages.parse_pins(['numba-dpex==0.23.0 ; extra == "kernels"']) == {"numba-dpex": "0.23.0"}


@pytest.mark.usefixtures("pinned")
def test_mending_installs_exact_versions_without_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "in_conda", lambda: False)
    words = shlex.split(packages.mend_command(["dpctl", "numba"], {"dpctl": "0.17.0", "numba": "0.59.1"}))
    assert words == [
        *("run", sys.executable, "-m", "pip", "install", "--no-deps", "--force-reinstall"),
        *("dpctl==0.17.0", "numba==0.59.1"),
    ]


@pytest.mark.usefixtures("pinned")
def test_mending_takes_other_pins_from_the_packages_that_need_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "in_conda", lambda: False)
    needs = {"mkl-dpcpp": ["onemkl-sycl-blas (==2024.2.2)"], "intel-opencl-rt": ["tbb (==2023.*)"]}
    monkeypatch.setattr(importlib.metadata, "requires", needs.get)
    command = packages.mend_command(["onemkl-sycl-blas", "tbb", "unheard-of"], {})
    assert shlex.split(command)[-3:] == ["onemkl-sycl-blas==2024.2.2", "tbb==2023.*", "unheard-of"]


@pytest.mark.usefixtures("pinned")
def test_conda_mends_by_its_own_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "conda-meta").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert packages.mend_command(["dpctl"]) == "run conda env update --file conda-env.yml"
    assert "conda-env.yml" in packages.environment_command()
    assert (SOURCE.parent / "conda-env.yml").is_file()


@pytest.mark.usefixtures("pinned")
def test_the_environment_is_made_with_the_right_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "in_conda", lambda: False)
    assert packages.environment_command("3.11").endswith("make clean install PYTHON=/path/to/python3.11")
