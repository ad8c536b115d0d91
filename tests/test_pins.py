"""pyproject.toml, the locks and the files for conda name the same versions, and no lock names an address."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, str]:
    """Name to specifier of everything that pyproject.toml asks for, overrides included."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [
        *data["project"]["dependencies"],
        *data["dependency-groups"]["pinned"],
        *data["dependency-groups"]["dev"],
        *data["build-system"]["requires"],
    ]
    wanted += data["tool"]["uv"]["override-dependencies"]
    parts = (re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", text) for text in wanted)
    return {normal(part[1]): part[2] for part in parts if part}


RUN, DEVELOP = "requirements.lock", "requirements-dev.lock"


def lock(*files: str) -> dict[str, str]:
    """Name to version of what these files lock."""
    text = "".join((ROOT / file).read_text() for file in files)
    found = re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", text, re.MULTILINE)
    return {normal(name): version for name, version in found}


def conda(file: str = "conda-env.yml") -> dict[str, str]:
    """Name to version ('' where none is given) of a file for conda."""
    text = (ROOT / file).read_text().partition("dependencies:")[2]
    found = re.findall(r"^  - ([A-Za-z0-9_.-]+?)(?:=(\S+)|>=\S+)?$", text, re.MULTILINE)
    return {normal(name): version for name, version in found}


def after_conda() -> dict[str, str]:
    """Name to version of what pip installs after conda, by the comment of its file."""
    (line,) = re.findall(r"^#   pip install --no-deps (.*) -e \.$", (ROOT / "conda-env.yml").read_text(), re.MULTILINE)
    return {normal(name): version for name, version in (each.split("==") for each in line.split())}


def exact(specifiers: dict[str, str]) -> dict[str, str]:
    return {name: text[2:] for name, text in specifiers.items() if text.startswith("==")}


def test_every_wanted_package_is_locked_and_exact_pins_agree() -> None:
    locked = lock(RUN, DEVELOP)
    assert set(project()) <= set(locked)
    pins = exact(project())
    assert len(pins) >= 15
    assert {name: locked[name] for name in pins} == pins


def test_the_locked_versions_are_in_the_ranges_that_users_ask_for() -> None:
    """Or ``pip check`` would complain of xebench in the pinned environment, which has Python 3.11."""
    locked = lock(RUN)
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [Requirement(text) for text in data["project"]["dependencies"]]
    of_python = [each for each in asked if not each.marker or each.marker.evaluate({"python_version": "3.11"})]
    assert {normal(each.name) for each in of_python} >= {"numba", "numpy", "dpctl"}
    outside = [str(each) for each in of_python if locked[normal(each.name)] not in each.specifier]
    assert not outside


def test_what_runs_is_locked_by_itself_and_agrees_with_what_develops() -> None:
    """Users get the first lock; both are installed together."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    run, develop = lock(RUN), lock(DEVELOP)
    names = {normal(re.split(r"[=<>!]", text)[0]) for text in _wanted(data)}
    assert names <= set(run)
    both = set(run) & set(develop)
    assert {name: run[name] for name in both} == {name: develop[name] for name in both}
    assert not {"mypy", "pytest", "ruff"} & set(run)


@pytest.mark.parametrize("file", [RUN, DEVELOP])
def test_every_lock_entry_has_hashes_and_no_address(file: str) -> None:
    text = (ROOT / file).read_text()
    blocks = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
    assert len(blocks) == len(lock(file))
    for block in blocks:
        assert "--hash=sha256:" in block, block.splitlines()[0]
    assert not re.search(r"https?:|file:|--(extra-)?index-url|--find-links", text)


@pytest.mark.parametrize("file", ["conda-env.yml", "conda-env-current.yml"])
def test_conda_can_read_its_files(file: str) -> None:
    data = yaml.safe_load((ROOT / file).read_text())
    assert set(data) == {"name", "channels", "dependencies"}
    assert len(data["dependencies"]) == len(conda(file)) and all(isinstance(one, str) for one in data["dependencies"])


def test_conda_has_the_same_exact_versions() -> None:
    pins, there = exact(project()), conda()
    for name, version in there.items():
        if name in pins:
            assert version == pins[name], name
    for name in (
        "numba-dpex",
        "numba",
        "llvmlite",
        "dpctl",
        "dpnp",
        "numpy",
        "dpcpp-llvm-spirv",
    ):
        assert name in there, name


def _wanted(data: dict[str, Any]) -> list[str]:
    return [*data["project"]["dependencies"], *data["dependency-groups"]["pinned"]]


def test_conda_brings_everything_that_the_project_imports() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {normal(re.split(r"[=<>]", text)[0]) for text in _wanted(data)}
    # the parts of the SYCL runtime are one package there
    parts = {"intel-sycl-rt", "intel-cmplr-lib-rt", "intel-cmplr-lib-ur", "intel-openmp"}
    assert wanted - parts <= {*conda(), *after_conda()}


def test_pip_brings_the_driver_that_conda_cannot_be_asked_for() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    overrides = dict(text.split("==") for text in data["tool"]["uv"]["override-dependencies"])
    assert after_conda() == overrides
    assert not set(overrides) & set(conda())


@pytest.mark.numba_dpex
def test_conda_is_asked_for_nothing_that_contradicts_itself() -> None:
    """Conda has no overrides, as pip's ``--no-deps`` and uv's are."""
    asked = {name: version for name, version in conda().items() if name != "python"}
    required = [
        (name, Requirement(text))
        for name, version in asked.items()
        if version and metadata.version(name) == version
        for text in metadata.requires(name) or ()
    ]
    between = [(name, each) for name, each in required if asked.get(normal(each.name))]
    assert ("mkl-dpcpp", "dpcpp-cpp-rt") in [(name, normal(each.name)) for name, each in between]
    assert not [f"{name}: {each}" for name, each in between if asked[normal(each.name)] not in each.specifier]


def test_conda_of_today_brings_what_the_current_stack_imports_and_nothing_of_the_pinned() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {normal(re.split(r"[=<>!]", text)[0]) for text in data["project"]["dependencies"]}
    there = conda("conda-env-current.yml")
    assert wanted <= set(there)
    assert not {"numba-dpex", "llvmlite"} & set(there)
    assert set(there.values()) == {""}, "versions are the resolver's"
