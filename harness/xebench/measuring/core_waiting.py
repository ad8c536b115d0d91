"""The part of the core time that this process wanted during a sample, and that others had.

Linux counts for each thread how long it was ready to run without a core: the second number of ``schedstat`` (kernel
documentation, "Scheduler Statistics"). Reading it takes about 1 us a thread.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from xebench.measuring.machine_files import open_above_standard

#: Seconds between two looks for new threads.
LISTED_EVERY_S: Final = 0.05


class CoreWaiting:
    """Measures it from one call of `begin` to the next of `part`.

    Args:
        root: directory that contains ``proc``.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._tasks = root / "proc/self/task"
        self._cores = len(os.sched_getaffinity(0))
        self._files: dict[str, int] = {}
        self._listed_s = -LISTED_EVERY_S
        self.begin()

    @property
    def is_known(self) -> bool:
        """True if the system counts it."""
        return bool(self._files)

    def begin(self) -> None:
        """Begin to measure."""
        if (now := time.monotonic()) - self._listed_s >= LISTED_EVERY_S:
            self._listed_s = now
            self._list_threads()
        self._before = self._waited_ns(), time.process_time_ns(), time.perf_counter_ns()

    def part(self) -> float | None:
        """The part since `begin`; None if the system does not count it.

        As many threads as cores, and one that waits for them, wait for each other. So no more counts than the time of
        all cores that the process did not get.
        """
        waited, had, passed = self._before
        had_ns = time.process_time_ns() - had
        free_ns = self._cores * (time.perf_counter_ns() - passed) - had_ns
        missed_ns = max(0, min(self._waited_ns() - waited, free_ns))
        return missed_ns / max(1, missed_ns + had_ns) if self.is_known else None

    def close(self) -> None:
        """Close the files."""
        while self._files:
            os.close(self._files.popitem()[1])

    def _list_threads(self) -> None:
        threads = {task.name for task in self._tasks.iterdir()} if self._tasks.is_dir() else set()
        for ended in self._files.keys() - threads:
            os.close(self._files.pop(ended))
        for new in threads - self._files.keys():
            try:
                self._files[new] = open_above_standard(self._tasks / new / "schedstat")
            except OSError:  # the thread has ended, or the kernel does not count
                continue

    def _waited_ns(self) -> int:
        return sum(map(_second_number, self._files.values()))


def _second_number(file: int) -> int:
    try:
        return int(os.pread(file, 64, 0).split()[1])
    except (OSError, IndexError):  # the thread has ended
        return 0
