"""Reading the small files in which the operating system describes itself."""

from __future__ import annotations

from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


def text_of(file: Path) -> str:
    """The text of a file without the space around it; empty if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
