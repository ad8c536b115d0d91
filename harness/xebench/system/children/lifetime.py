"""The lifetime of our child processes: they die with their parent, and leave without exit handlers."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

_PR_SET_PDEATHSIG: Final = 1

#: Signals that end a command. A batch system may send them to every process of a job, of whom one answers.
STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_as_child(main: Callable[[list[str]], int]) -> NoReturn:
    """All that a module which is started by its name does as a program.

    When the parent is killed so is this process, and what a pattern forks within it. It leaves without exit handlers:
    drivers have crashed in theirs after right results, and those are not what is asked.

    Args:
        main: takes the arguments of the command line, gives the exit status.
    """
    die_with_parent()
    forks = _Forks()
    os.register_at_fork(before=forks.note_parent, after_in_child=forks.die_with_parent)
    try:
        status = main(sys.argv[1:])
    except Exception:
        _flush()  # the error is the last that the process says
        traceback.print_exc()
        status = 1
    _flush()
    os._exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # a pattern file may have closed them, or put None there
            stream.flush()


def die_with_parent() -> None:
    """Have the system kill this process when its parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class _Forks:
    """Lets no fork of a process outlive the process that it comes from."""

    def note_parent(self) -> None:
        self._parent = os.getpid()

    def die_with_parent(self) -> None:
        die_with_parent()
        if os.getppid() != self._parent:  # it was killed before that was asked for
            os._exit(1)


def be_the_first_to_go() -> None:
    """When the system runs out of memory it should end this process, not the parent, which keeps the results."""
    with suppress(OSError):
        score = Path("/proc/self/oom_score_adj")
        score.write_text(str(min(1000, int(score.read_text()) + 500)))


def end_a_fork(pid: int) -> None:
    """End this process when it is not ``pid`` but a fork of it that has come back into our code.

    It would do everything that follows a second time, and say so to the same parent.
    """
    if os.getpid() != pid:
        os._exit(1)
