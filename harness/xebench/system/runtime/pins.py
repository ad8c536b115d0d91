"""The versions that work together, as this distribution's metadata pins them, and the command that mends."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from xebench.system import PACKAGE
from xebench.system.runtime.stack import is_current

DISTRIBUTION = "xebench"

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)\s*\(?==\s*([0-9][0-9A-Za-z.*]*)\)?")
# First Python that will do, and the first that the pinned stack has no wheels for.
FIRST_PYTHON, BEYOND_PINNED = (3, 11), (3, 12)

#: Installs the whole pinned set.
SETUP: Final = "xebench setup --kernels"

# What the current stack is made of; the rest comes with these.
_CURRENT = ("dpctl", "dpnp", "intel-opencl-rt")

# Packages that our own metadata leaves to these, which pin them.
_PINNED_BY = ("intel-opencl-rt", "mkl-dpcpp")


def pinned_versions() -> dict[str, str]:
    """Package name to the exact version that :data:`DISTRIBUTION` requires; ranges are not pins."""
    return parse_pins(_requirements())


def parse_pins(requirements: Iterable[str]) -> dict[str, str]:
    """The ``name==version`` among requirement strings."""
    matches = (_PINNED.match(requirement.strip()) for requirement in requirements)
    return {match[1].lower(): match[2] for match in matches if match}


def installed_version(package: str) -> str | None:
    """Version by the package's metadata, without importing it; None if there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def mend_command(packages: Iterable[str], pins: Mapping[str, str] | None = None) -> str:
    """The command that installs ``packages`` in the versions that this project needs.

    ``--no-deps``, since no resolver accepts the pinned set: the CPU driver is newer than its SYCL runtime asks for.
    """
    if is_current():
        installer = "conda install" if in_conda() else f"{shlex.quote(sys.executable)} -m pip install --upgrade"
        return f"run {installer} {' '.join(packages)}"
    if in_conda():
        return "run conda env update --file conda-env.yml"
    pins = pinned_versions() if pins is None else pins
    wanted = [(package, pins.get(package) or _pinned_elsewhere(package)) for package in packages]
    specs = " ".join(shlex.quote(f"{name}=={version}" if version else name) for name, version in wanted)
    return f"run {shlex.quote(sys.executable)} -m pip install --no-deps --force-reinstall {specs}"


def environment_command(python: str = "") -> str:
    """The command that makes the whole environment again.

    Args:
        python: version of Python to make it with, if this is not the right one.
    """
    if is_current():
        return mend_command([*_CURRENT])
    if in_conda():
        return "make the environment again: conda env create --file conda-env.yml"
    if not python:
        return f"run {SETUP}"
    return f"make the environment again: make clean install PYTHON=/path/to/python{python}"


def lock_file() -> Path:
    """The pinned set with its hashes: in this package where a wheel brought it, beside it in a source tree."""
    installed = PACKAGE.resolve() / "requirements.lock"
    return installed if installed.is_file() else installed.parents[2] / installed.name


def in_conda() -> bool:
    """True if this Python belongs to a conda environment."""
    return (Path(sys.prefix) / "conda-meta").is_dir()


def _requirements() -> list[str]:
    try:
        return list(importlib.metadata.requires(DISTRIBUTION) or ())
    except importlib.metadata.PackageNotFoundError:
        import tomllib  # not at the top: a Python that is too old must get as far as being told so

        project = tomllib.loads(_project_text()).get("project", {})
        return [*project.get("dependencies", ()), *project.get("optional-dependencies", {}).get("kernels", ())]


def _project_text() -> str:
    """``pyproject.toml`` of a source tree that is used without having been installed; empty if it is not ours."""
    source = PACKAGE.parents[1] / "pyproject.toml"
    text = source.read_text(encoding="utf-8") if source.is_file() else ""
    return text if f'name = "{DISTRIBUTION}"' in text else ""


def _pinned_elsewhere(package: str) -> str | None:
    for owner in _PINNED_BY:
        try:
            version = parse_pins(importlib.metadata.requires(owner) or ()).get(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        if version:
            return version
    return None
