"""A release: one place has the version, and the notes are the version's part of the changelog."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import xebench

ROOT = Path(__file__).parents[1]


def test_one_place_has_the_version() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in data["project"] and data["project"]["dynamic"] == ["version"]
    assert data["tool"]["hatch"]["version"]["path"] == "harness/xebench/__init__.py"
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_licence_is_named_alike_and_its_text_is_packed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["license"] == citation["license"] == "MIT" and project["license-files"] == ["LICENSE"]
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith(f"{project['license']} License\n")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A checkout with what the script reads, and a `python` that does nothing: tests install nothing."""
    for name in (".ci/release", "harness/xebench/__init__.py", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text("#!/bin/sh\nexit 7\n")
    (tmp_path / "bin/python").chmod(0o755)
    return tmp_path


def run(release: Path, tag: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(release / ".ci/release"), tag, "dist", "notes.md"]
    path = f"{release / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=release, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )


def test_a_tag_that_is_not_the_version_ends_in_a_line(release: Path) -> None:
    done = run(release, "v99.0.0")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"the tag is v99.0.0, and harness/xebench/__init__.py has version {xebench.__version__}" in done.stderr


def test_notes_are_the_versions_part_of_the_changelog(release: Path) -> None:
    changelog = release / "CHANGELOG.md"
    tag = f"v{xebench.__version__}"
    changelog.write_text("# Changelog\n\n## [Unreleased]\n\n- later\n\n## [0.0.1] - 2020-01-01\n\n- earlier\n")
    done = run(release, tag)
    assert done.returncode == 1 and f"CHANGELOG.md has no part '## [{xebench.__version__}]'" in done.stderr
    part = f"## [{xebench.__version__}] - 2026-11-23\n\n### Added\n\n- this\n"
    changelog.write_text(f"# Changelog\n\n## [Unreleased]\n\n- later\n\n{part}\n## [0.0.1] - 2020-01-01\n\n- earlier\n")
    assert run(release, tag).returncode == 7  # as far as the test goes: nothing is built
    assert (release / "notes.md").read_text().split() == ["###", "Added", "-", "this"]


def test_the_workflow_runs_the_script_and_has_no_secret() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert any(".ci/release" in step.get("run", "") for step in jobs["build"]["steps"])
    assert jobs["publish"]["needs"] == "build" and jobs["publish"]["permissions"]["id-token"] == "write"
    assert "secrets." not in text and "password" not in text
