"""What a run says of itself."""

import json
import subprocess
from datetime import datetime, timedelta
from importlib import metadata
from pathlib import Path

import pytest

from numba_sycl.stacks import stack
from xebench.results import provenance
from xebench.vocabulary import GENERATOR


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return tmp_path


def test_manifest_holds_what_the_caller_and_the_environment_know(tmp_path: Path) -> None:
    made = provenance.manifest(["xebench", "run"], {"processor": "x"}, {"OCL_ICD_FILENAMES": "d"}, project=tmp_path)
    assert json.loads(json.dumps(made)) == made
    assert made["command"] == ["xebench", "run"]
    assert made["machine"] == {"processor": "x"}
    assert made["environment"] == {"OCL_ICD_FILENAMES": "d"}
    assert made["packages"]["numpy"] == metadata.version("numpy")
    assert made["packages"].keys() == set(provenance.PACKAGES)
    assert made["xebench"] == metadata.version("xebench")
    assert made["stack"] == stack()
    assert made["generator"] == f"{GENERATOR} of numpy {metadata.version('numpy')}"
    assert made["git"] is None
    assert datetime.fromisoformat(made["created"]).utcoffset() == timedelta(0)


def test_git_state_follows_the_checkout(checkout: Path) -> None:
    clean = provenance.git_state(checkout)
    assert clean is not None
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    (checkout / "file").write_text("two")
    assert provenance.git_state(checkout) == {"commit": clean["commit"], "dirty": True}


def test_no_git_is_fine(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout / "nothing"))
    assert provenance.git_state(checkout) is None


def test_a_repository_without_a_commit_is_fine(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert provenance.git_state(tmp_path) is None


def test_an_installed_package_is_not_taken_for_a_checkout_around_it(checkout: Path) -> None:
    inside = checkout / "site-packages"
    inside.mkdir()
    assert provenance.git_state(inside) is None


def test_a_package_that_is_not_installed_is_null(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(provenance, "PACKAGES", ("no-such-package",))
    assert provenance.manifest([], {}, {}, project=tmp_path)["packages"] == {"no-such-package": None}
