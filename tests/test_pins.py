"""pyproject.toml, requirements.lock and conda-env.yml name the same versions, and the lock names no address."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, str]:
    """Name to specifier of everything that pyproject.toml asks for, overrides included."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [
        *data["project"]["dependencies"],
        *data["project"]["optional-dependencies"]["kernels"],
        *data["dependency-groups"]["dev"],
        *data["build-system"]["requires"],
    ]
    wanted += data["tool"]["uv"]["override-dependencies"]
    parts = (re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", text) for text in wanted)
    return {normal(part[1]): part[2] for part in parts if part}


def lock() -> dict[str, str]:
    """Name to version of requirements.lock."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    return {normal(name): version for name, version in found}


def conda() -> dict[str, str]:
    """Name to version ('' where none is given) of conda-env.yml."""
    text = (ROOT / "conda-env.yml").read_text().partition("dependencies:")[2]
    found = re.findall(r"^  - ([A-Za-z0-9_.-]+)(?:=(\S+))?$", text, re.MULTILINE)
    return {normal(name): version for name, version in found}


def exact(specifiers: dict[str, str]) -> dict[str, str]:
    return {name: text[2:] for name, text in specifiers.items() if text.startswith("==")}


def test_every_wanted_package_is_locked_and_exact_pins_agree() -> None:
    locked = lock()
    assert set(project()) <= set(locked)
    pins = exact(project())
    assert len(pins) >= 15
    assert {name: locked[name] for name in pins} == pins


def test_every_lock_entry_has_hashes_and_no_address() -> None:
    text = (ROOT / "requirements.lock").read_text()
    blocks = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
    assert len(blocks) == len(lock())
    for block in blocks:
        assert "--hash=sha256:" in block, block.splitlines()[0]
    assert not re.search(r"https?:|file:|--(extra-)?index-url|--find-links", text)


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
        "intel-opencl-rt",
        "dpcpp-llvm-spirv",
    ):
        assert name in there, name


def _wanted(project: dict[str, Any]) -> list[str]:
    return [*project["dependencies"], *project["optional-dependencies"]["kernels"]]


def test_conda_brings_everything_that_the_project_imports() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {normal(re.split(r"[=<>]", text)[0]) for text in _wanted(data["project"])}
    # the parts of the SYCL runtime are one package there
    parts = {"intel-sycl-rt", "intel-cmplr-lib-rt", "intel-cmplr-lib-ur", "intel-openmp"}
    assert wanted - parts <= set(conda())
