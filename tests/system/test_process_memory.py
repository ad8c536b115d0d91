"""The memory of processes, as the kernel tells it."""

from __future__ import annotations

import os
from pathlib import Path

from xebench.system.children.worker import resident_bytes, system_memory_kills


def test_the_memory_of_a_process_is_seen_and_that_of_none_is_none() -> None:
    assert resident_bytes(os.getpid()) > 1 << 20
    assert resident_bytes(2**22 + 1) == 0, "beyond the largest process id"


def test_the_kills_of_the_system_are_counted(tmp_path: Path) -> None:
    assert system_memory_kills(tmp_path) == 0
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/vmstat").write_text("pgfault 12\noom_kill 3\noom_kill_other 9\n")
    assert system_memory_kills(tmp_path) == 3
