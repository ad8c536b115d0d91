"""What a run may use, memory and seconds, and what stops it cleanly: Ctrl-C, ``kill`` and a closed terminal."""

from __future__ import annotations

import math
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from xebench.errors import XebenchError
from xebench.system.children.process import STOPPING

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


class Stopped(BaseException):
    """A signal ended the run. No ``Exception``, so that nothing that handles errors takes it for one."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name = signal.Signals(number).name


class StoppedEarly(XebenchError):
    """A signal came before there was a run folder."""

    def __init__(self, name: str) -> None:
        super().__init__(f"stopped by {name} before anything was measured")
        self.exit_code = exit_code(name)


def exit_code(name: str) -> int:
    """The exit status that shells expect of a command that the signal ``name`` ended."""
    return 128 + signal.Signals[name]


class StopSignals:
    """Handlers for the time of a run.

    The first signal raises `Stopped`: at once, or, within `held`, at the next `check`. Every later one is ignored:
    the run is ending already, and a second Ctrl-C must not tear the folder.
    """

    def __init__(self) -> None:
        self._caught: int | None = None
        self._over = False
        self._held = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                # what the caller ignores (nohup, a shell's background job) stays ignored
                if (before := signal.getsignal(number)) is not signal.SIG_IGN:
                    self._before[number] = before
                    signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        self.ignore()
        for number, before in self._before.items():
            signal.signal(number, before)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within this block a signal waits for `check`, or for the end of the block."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.check()

    def check(self) -> None:
        """Raise `Stopped` for a signal that waits."""
        if self._caught is not None and not self._over:
            self._over = True
            raise Stopped(self._caught)

    def ignore(self) -> None:
        """From now on no signal has an effect: the run is over and its folder is being finished."""
        self._over = True

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._caught = number if self._caught is None else self._caught
        if not self._held:
            self.check()
