"""Pins come from the lock, and so do the mending commands."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from xebench.system.runtime import packages

SOURCE = Path(__file__).parents[2] / "pyproject.toml"


def project() -> dict[str, Any]:
    """``pyproject.toml``."""
    return tomllib.loads(SOURCE.read_text())


def exact(requirements: list[str]) -> dict[str, str]:
    """Name to version of those that allow one version only."""
    return dict(text.split("==") for text in requirements if re.fullmatch(r"[\w-]+==[\d.]+", text))


def test_pins_are_those_of_the_project() -> None:
    assert packages.pinned_versions() == exact(project()["dependency-groups"]["pinned"])
    assert packages.pinned_versions()["numba-dpex"].startswith("0.23.")


def test_what_is_published_can_be_resolved() -> None:
    table = project()["project"]
    wanted = [*table["dependencies"], *(text for extra in table["optional-dependencies"].values() for text in extra)]
    assert exact(wanted) == {}


def test_without_the_lock_there_are_no_pins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(packages, "lock_file", lambda: tmp_path / "requirements.lock")
    assert packages.pinned_versions() == {}


def test_python_bounds() -> None:
    assert project()["project"]["requires-python"] == f">={packages.FIRST_PYTHON[0]}.{packages.FIRST_PYTHON[1]}"
    assert packages.BEYOND_PINNED > packages.FIRST_PYTHON


@pytest.mark.usefixtures("pinned")
def test_mending_installs_locked_versions_without_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "in_conda", lambda: False)
    words = shlex.split(packages.mend_command(["dpctl", "onemkl-sycl-blas", "unheard-of"]))
    assert words == [
        *("run", sys.executable, "-m", "pip", "install", "--no-deps", "--force-reinstall"),
        *("dpctl==0.17.0", "onemkl-sycl-blas==2024.2.2", "unheard-of"),
    ]


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
