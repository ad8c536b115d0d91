"""Hostile pattern files that a test writes: kernels are imported from beside them, as in tests/faulty."""

from __future__ import annotations

import shutil
from pathlib import Path

FAULTY = Path(__file__).parents[1] / "faulty"


def write_pattern(path: Path, text: str) -> None:
    """Write a pattern file that may say ``from .kernels import double``."""
    shutil.copy(FAULTY / "kernels.py", path.parent)
    path.write_text(text)
