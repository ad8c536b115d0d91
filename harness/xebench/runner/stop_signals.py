"""Ctrl-C, ``kill`` and a closed terminal end a run cleanly: once, and never in the middle of a row."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from xebench.errors import XebenchError
from xebench.system.children.lifetime import STOPPING


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
