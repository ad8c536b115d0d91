"""``xebench setup --kernels``: what it runs, and where it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from xebench.doctor import examination as doctor
from xebench.errors import BrokenEnvironment, XebenchError
from xebench.system.runtime import packages

ROOT = Path(__file__).parents[2]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What the user is told, in a virtual environment of Python 3.11; pip is only run by those who say so."""
    monkeypatch.setattr(sys, "version_info", (3, 11, 7, "final", 0))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("pip was run"))
    return []


def pip_ends_with(status: int, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Let pip do nothing and end so; the commands that are run."""
    commands: list[list[str]] = []

    def run(command: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, status)

    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_the_lock_is_installed_without_a_resolver_and_that_is_said_before(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = pip_ends_with(0, monkeypatch)
    doctor.install_pinned(said.append)
    (command,) = commands
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    assert {"--no-deps", "--require-hashes"} <= set(command)
    assert command[-2:] == ["-r", str(ROOT / "requirements.lock")]
    assert " ".join(command) in said[0] and sys.prefix in said[0]
    assert "xebench doctor" in said[-1]


def test_pip_that_fails_is_an_error(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pip_ends_with(1, monkeypatch)
    with pytest.raises(BrokenEnvironment, match="pip ended with status 1"):
        doctor.install_pinned(said.append)


@pytest.mark.parametrize("minor", [10, 12, 13])
def test_another_python_is_told_what_is_needed(said: list[str], monkeypatch: pytest.MonkeyPatch, minor: int) -> None:
    monkeypatch.setattr(sys, "version_info", (3, minor, 1, "final", 0))
    with pytest.raises(XebenchError) as caught:
        doctor.install_pinned(said.append)
    assert str(caught.value).startswith(f"the pinned set needs Python 3.11, this is 3.{minor}: ")
    assert said == []


def test_packages_that_others_use_are_left_alone(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(XebenchError, match="is no virtual environment"):
        doctor.install_pinned(said.append)


def test_conda_has_a_file_of_its_own(said: list[str]) -> None:
    (Path(sys.prefix) / "conda-meta").mkdir()
    with pytest.raises(XebenchError, match="conda env update --file conda-env.yml"):
        doctor.install_pinned(said.append)


def test_the_command_in_this_environment_names_it() -> None:
    command = [sys.executable, "-m", "xebench", "setup"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "xebench: Missing option '--kernels': see xebench setup --help\n")


def test_what_develops_is_not_installed_for_users() -> None:
    text = packages.lock_file().read_text()
    assert "\nnumba-dpex==" in text
    assert not [tool for tool in ("mypy", "ruff", "pytest", "hypothesis") if f"\n{tool}==" in text]
