"""The part of the core time that others had, from made-up files of threads and made-up clocks."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from xebench.measuring import core_waiting
from xebench.measuring.core_waiting import CoreWaiting


class Process:
    """Threads under a root, on two cores."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.had_ns = self.now_ns = 0
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
        monkeypatch.setattr(time, "process_time_ns", lambda: self.had_ns)
        monkeypatch.setattr(time, "perf_counter_ns", lambda: self.now_ns)
        monkeypatch.setattr(core_waiting, "LISTED_EVERY_S", 0.0)
        for thread in ("1", "2"):
            self.waits(thread, 5_000)

    def waits(self, thread: str, total_ns: int) -> None:
        folder = self.root / "proc/self/task" / thread
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schedstat").write_text(f"123456789 {total_ns} 42\n")

    def part(self, *, passed: int, had: int, **waited: int) -> float | None:
        """The part over a time in which the process had these ns of cores, and its threads waited for so many."""
        for thread in waited:
            self.waits(thread.removeprefix("t"), 5_000)
        waiting = CoreWaiting(self.root)
        waiting.begin()
        self.now_ns += passed
        self.had_ns += had
        for thread, more in waited.items():
            self.waits(thread.removeprefix("t"), 5_000 + more)
        found = waiting.part()
        waiting.close()
        return found


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Process:
    return Process(tmp_path, monkeypatch)


def test_others_had_what_the_threads_waited_for(process: Process) -> None:
    assert process.part(passed=1000, had=1000, t1=0) == 0.0
    assert process.part(passed=1000, had=250, t1=500, t2=250) == pytest.approx(0.75)


def test_threads_that_wait_for_each_other_wait_for_nobody_else(process: Process) -> None:
    assert process.part(passed=1000, had=2000, t1=900) == 0.0
    assert process.part(passed=1000, had=1500, t1=900) == pytest.approx(500 / 2000)


def test_threads_that_begin_and_end_meanwhile_are_no_error(process: Process) -> None:
    waiting = CoreWaiting(process.root)
    process.waits("3", 70_000)
    waiting.begin()
    shutil.rmtree(process.root / "proc/self/task/2")
    process.now_ns += 1000
    process.waits("3", 70_400)
    process.had_ns += 400
    assert waiting.part() == pytest.approx(0.5)
    waiting.begin()
    assert waiting.part() == 0.0
    waiting.close()


def test_a_system_that_does_not_count_has_no_part(tmp_path: Path) -> None:
    waiting = CoreWaiting(tmp_path)
    assert not waiting.is_known and waiting.part() is None


def test_this_process_had_a_part_of_its_cores() -> None:
    waiting = CoreWaiting()
    sum(range(100_000))
    part = waiting.part()
    waiting.close()
    assert part is None or 0 <= part <= 1
