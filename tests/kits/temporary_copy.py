"""A copy of the project in which a test adds something as docs/extending.md shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy_of(folder: Path) -> Path:
    """The packages, in ``folder``."""
    for source in ("harness", "benchmarks"):
        shutil.copytree(ROOT / source, folder / source)
    return folder


def diffs(section: str) -> list[str]:
    """The diffs in a section of docs/extending.md, or in files that it links, by its heading, such as ``A metric``."""
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    body = re.split(rf"^## {re.escape(section)}$", text, flags=re.MULTILINE)[1].partition("\n## ")[0]
    linked = re.findall(r"\]\((examples/extending/.+?\.diff)\)", body)
    shown = re.findall(r"^```diff\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
    return shown + [(ROOT / "docs" / file).read_text(encoding="utf-8") for file in linked]


def apply(diff: str, folder: Path) -> None:
    """Apply a diff to a copy."""
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}  # of any repository that it may lie in
    applied = subprocess.run(
        ["git", "apply", "-"], input=diff, cwd=folder, env=outside, capture_output=True, text=True, check=False
    )
    assert applied.returncode == 0, applied.stderr + diff


def environment(folder: Path) -> dict[str, str]:
    """Variables with which Python takes a copy's package before the installed one."""
    return {**os.environ, "PYTHONPATH": str(folder / "harness")}


def python(folder: Path, *arguments: str) -> str:
    """What Python prints in a copy, where its packages come before the installed ones."""
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python_m(folder: Path, *arguments: str) -> str:
    """Likewise of ``python -m ...``."""
    return python(folder, "-m", *arguments)
