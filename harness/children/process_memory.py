"""What the kernel tells of the memory of processes."""

from __future__ import annotations

import os
import re
from pathlib import Path


def resident_bytes(pid: int) -> int:
    """Memory that a process occupies now; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):  # an empty file: it is ending
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def system_memory_kills(root: Path = Path("/")) -> int:
    """How many processes the system's out-of-memory killer has ended since it started."""
    try:
        match = re.search(r"^oom_kill (\d+)$", (root / "proc/vmstat").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1]) if match else 0
