"""A copy of the project in which a test adds something as docs/extending.md shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy_with(folder: Path, *sections: str) -> Path:
    """The packages with the diffs of some sections applied, in ``folder``.

    Args:
        folder: where the copy is made.
        sections: their headings in docs/extending.md, such as ``A metric``.
    """
    for source in ("harness", "benchmarks"):
        shutil.copytree(ROOT / source, folder / source)
    for section in sections:
        for diff in _diffs(section):
            _apply(diff, folder)
    return folder


def _diffs(section: str) -> list[str]:
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    body = re.split(rf"^## {re.escape(section)}$", text, flags=re.MULTILINE)[1].partition("\n## ")[0]
    diffs = re.findall(r"^```diff\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
    assert diffs, f"docs/extending.md shows no diff for {section!r}"
    return diffs


def _apply(diff: str, folder: Path) -> None:
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}  # of any repository that it may lie in
    applied = subprocess.run(
        ["git", "apply", "-"], input=diff, cwd=folder, env=outside, capture_output=True, text=True, check=False
    )
    assert applied.returncode == 0, applied.stderr + diff


def environment(folder: Path) -> dict[str, str]:
    """Variables with which Python takes a copy's package before the installed one."""
    return {**os.environ, "PYTHONPATH": str(folder / "harness")}


def python_m(folder: Path, *arguments: str) -> str:
    """What ``python -m ...`` prints in a copy, where its packages come before the installed ones."""
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
