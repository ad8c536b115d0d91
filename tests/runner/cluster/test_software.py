"""A worker must have the software of the command, and the user's files where the command has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from xebench.patterns.registry import builtin_files, local_source, portable_source
from xebench.runner.cluster.order import Software, user_files


def test_the_same_environment_does_not_differ(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("1")
    here = Software.here([str(path)])
    assert here.difference(Software.here([str(path)])) is None


def test_each_difference_is_told_with_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("1")
    here = Software.here([str(path)])
    assert "has xebench 0.0" in str(here.difference(replace(here, version="0.0")))
    assert "has the other stack" in str(here.difference(replace(here, stack="other")))
    assert "bring both to the same state" in str(here.difference(replace(here, source="")))
    path.write_text("2")
    assert f"has another {path}: copy it" in str(here.difference(Software.here([str(path)])))
    path.unlink()
    assert f"has no {path}: copy it" in str(here.difference(Software.here([str(path)])))


def test_only_files_of_the_user_must_be_there(tmp_path: Path) -> None:
    assert user_files([]) == ()
    path = tmp_path / "own.py"
    path.write_text("1")
    assert user_files([str(path)]) == (str(path),)


def test_a_built_in_pattern_is_found_wherever_it_is_installed() -> None:
    path = str(builtin_files()[0])
    assert portable_source(path).startswith("benchmarks/") and local_source(portable_source(path)) == path
    assert local_source("/elsewhere/own.py") == "/elsewhere/own.py"
