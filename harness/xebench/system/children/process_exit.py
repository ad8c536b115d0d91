"""The end of a process, in words: its exit status and what it printed last."""

from __future__ import annotations

import re
import signal
from pathlib import PurePath
from typing import Final

from xebench.system import PACKAGE

_LONGEST: Final = 160

#: What LLVM inside a driver prints at any crash; it says nothing about this one.
_BANNER: Final = re.compile(r"PLEASE (submit a bug report|ATTACH)|^Stack dump")

#: Files that are not a pattern's: installed packages and this one.
_LIBRARY: Final = re.compile(rf"/lib/python\d|^{re.escape(str(PACKAGE))}/")
_FRAME: Final = re.compile(r'File "(.+)", line (\d+) in (.+)')


def how_it_ended(code: int, printed: str = "") -> str:
    """One line for an exit status as :mod:`subprocess` gives it (negative: a signal) and the output before it."""
    if code == -signal.SIGKILL:
        # a process cannot crash with this one: somebody else sent it
        return "killed from outside (signal SIGKILL)"
    end = f"ended with status {code}" if code >= 0 else f"ended by {_signal_name(-code)}"
    where, words = _python_frame(printed), last_line(printed)[:_LONGEST]
    return end + (f" in {where}" if where else f" ({words})" if words else "")


def last_line(printed: str) -> str:
    """The last line that says something, or nothing."""
    lines = [line.strip() for line in printed.splitlines() if line.strip() and not _BANNER.search(line)]
    return lines[-1] if lines else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return f"signal {number}"


def _python_frame(printed: str) -> str:
    """The innermost Python frame that faulthandler printed, of the pattern if it has one: ``file.py, line 7, name``."""
    _, fatal, after = printed.rpartition("Fatal Python error")
    frames: list[tuple[str, str, str]] = _FRAME.findall(after) if fatal else []
    if not frames:
        return ""
    path, line, function = next((frame for frame in frames if not _LIBRARY.search(frame[0])), frames[0])
    return f"{PurePath(path).name}, line {line}, {function}"
