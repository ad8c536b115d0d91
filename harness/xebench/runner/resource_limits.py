"""The limits of a run: the memory of a worker process, and the seconds of the whole run."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xebench.errors import XebenchError

DEFAULT_MEMORY: Final = "80%"
#: A worker with the SYCL runtime and numba occupies about 300 MiB.
LEAST_MEMORY: Final = 512 << 20

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT]?)(?:i?B)?|(%))", re.IGNORECASE)


def parse_memory(text: str, total_bytes: int) -> int:
    """Bytes of ``8G``, ``512M`` or ``80%`` (of ``total_bytes``).

    Raises:
        XebenchError: the text has another form, or it is less than a worker needs before it measures anything.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or not float(match[1]):
        raise XebenchError(
            f"--memory-limit {text!r}: write a size as 8G or 512M, or a part of the host's memory as 80%"
        )
    scale = total_bytes / 100 if match[3] else _UNITS[match[2].upper()]
    limit = float(match[1]) * scale
    if limit < LEAST_MEMORY:
        raise XebenchError(f"--memory-limit {text!r}: a worker process needs 512M to begin with; raise it")
    return int(limit)


def host_memory_bytes(root: Path = Path("/")) -> int:
    """The memory that this process can have: the host's, or less in a container or a batch job.

    Args:
        root: where ``proc`` and ``sys`` are looked for.
    """
    import psutil

    return min([int(psutil.virtual_memory().total), *_control_group_limits(root)])


def _control_group_limits(root: Path) -> list[int]:
    """``memory.max`` of the process's control group and of those above it (version 2)."""
    groups = root / "sys/fs/cgroup"
    try:
        own = re.search(r"^0::/(.*)$", (root / "proc/self/cgroup").read_text(), re.MULTILINE)
    except OSError:
        return []
    folder = groups / (own[1] if own else "")
    limits = []
    for group in (folder, *folder.parents):
        try:
            limits.append(int((group / "memory.max").read_text()))
        except (OSError, ValueError):  # "max" is no limit
            continue
    return limits


@dataclass
class RunBudget:
    """Seconds that a whole run may take.

    Attributes:
        seconds: None for no limit.
        clock: seconds, for tests.
        begun_s: when the run began, by the clock; None: now.
        reserve_s: gives the seconds that the end of the run will take.
    """

    seconds: float | None
    clock: Callable[[], float] = time.monotonic
    begun_s: float | None = None
    reserve_s: Callable[[], float] = lambda: 0.0

    def __post_init__(self) -> None:
        if self.begun_s is None:
            self.begun_s = self.clock()

    def left_s(self) -> float:
        """The seconds left for measuring; infinite without a limit."""
        if self.seconds is None:
            return math.inf
        # finding out what the end takes may take time itself, and is not worth any when none is left
        reserve_s = self.reserve_s() if self._rest_s() > 0 else 0.0
        return self._rest_s() - reserve_s

    @property
    def spent(self) -> str:
        """The message when nothing is left."""
        return f"the budget of {self.seconds:g} s for the run is spent"

    def _rest_s(self) -> float:
        assert self.seconds is not None and self.begun_s is not None
        return self.seconds - (self.clock() - self.begun_s)
