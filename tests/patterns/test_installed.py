"""Patterns of an installed package, which docs/extending.md shows how to name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from documented import fences

from xebench.errors import PatternError
from xebench.patterns import registry
from xebench.patterns.installed import installed_files

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "our-library"
version = "1.0"

"""
PATTERN = """
from xebench import Pattern, Problem, output
from ._sizes import SIZES

pattern = Pattern("of_ours", lesson="L.", presets=SIZES)

@pattern.problem
def data(rng, n):
    return Problem(x=rng.random(n), y=output(n, float))

@pattern.reference
def expected(p):
    return {"y": p.x}

@pattern.naive
def copied(session, p):
    session.copy(p.y, p.x)
"""
SIZES = "SIZES = {'smoke': {'n': 16}, 'default': {'n': 16}}"
FILES = {
    "our_library/__init__.py": "raise SystemExit('xebench imports nothing of it')",
    "our_library/patterns/__init__.py": "raise SystemExit('nor of this')",
    "our_library/patterns/_sizes.py": SIZES,
    "our_library/patterns/ours.py": PATTERN,
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip installed a small package into, with the page's entry point."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    (shown,) = (fence.text for fence in fences("docs/extending.md") if fence.language == "toml")
    for name, text in {"pyproject.toml": PROJECT + shown, **FILES}.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    options = ["--quiet", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    return target


def xebench(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command where the package is installed."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "XDG_CACHE_HOME": str(installed / "cache")}
    command = [sys.executable, "-m", "xebench", *arguments]
    return subprocess.run(command, cwd=installed, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.nightly
def test_its_files_are_found_but_for_those_that_they_share(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed_files() == ()
    monkeypatch.syspath_prepend(installed)
    assert installed_files() == (installed / "our_library/patterns/ours.py",)


@pytest.mark.nightly
@pytest.mark.device
def test_it_is_measured_by_name(installed: Path) -> None:
    listed = xebench(installed, "list", "of_ours", "--format", "csv")
    assert (listed.returncode, listed.stdout.count("of_ours")) == (0, 1), listed.stderr
    done = xebench(installed, "run", "of_ours", "--preset", "smoke", "--device", "cpu", "--output", "run")
    assert done.returncode == 0, done.stderr
    assert "copied" in done.stdout


@pytest.mark.nightly
@pytest.mark.device
def test_a_file_of_the_same_pattern_is_run_alone(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PATTERN.replace("from ._sizes import SIZES", SIZES))
    done = xebench(installed, "run", str(tmp_path / "mine.py"), "--preset", "smoke", "--output", "alone")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("value", "files"),
    [
        ("single", {"single.py": ""}),
        ("theirs.bench", {"theirs/bench.py": ""}),
        ("one", {"one/a.py": "", "one/b.py": ""}),
    ],
)
def test_an_entry_point_names_a_module_or_a_package(
    value: str, files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_by_hand(tmp_path, value, files)
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_files() == tuple(tmp_path / name for name in files)


@pytest.mark.parametrize("value", ["lacking", "theirs.lacking", "theirs", "theirs.bench:patterns", ""])
def test_an_entry_point_without_files_is_one_line(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_by_hand(tmp_path, value, {"theirs/__init__.py": "", "theirs/bench/__init__.py": ""})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PatternError, match=rf"^by-hand: its entry point xebench.patterns names '{value}', where there"):
        registry.discover(installed=True)


def install_by_hand(folder: Path, value: str, files: dict[str, str]) -> None:
    """What pip would leave in a folder of installed packages."""
    information = {
        "by_hand-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: by-hand\nVersion: 1.0\n",
        "by_hand-1.0.dist-info/entry_points.txt": f"[xebench.patterns]\nany = {value}\n",
    }
    for name, text in {**information, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
