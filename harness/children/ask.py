"""Ask something of a driver in a process of its own, since a bad driver may abort or hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True)
class Answer:
    """What a child process said: decoded JSON, or why there is none (one line)."""

    value: Any = None
    failure: str | None = None


def ask(module: str, arguments: Sequence[str] = (), *, timeout_s: float) -> Answer:
    """Run ``python -m module arguments`` and decode the last line that it prints as JSON."""
    command = [sys.executable, "-m", module, *arguments]
    try:
        child = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return Answer(failure=f"no answer within {timeout_s:g} s")
    if child.returncode == 0:
        return _decode(child.stdout)
    if child.returncode < 0:
        return Answer(failure=f"crashed ({_signal_name(-child.returncode)})")
    return Answer(failure=_last_line(child.stderr) or f"ended with status {child.returncode}")


def leave(status: int) -> NoReturn:
    """End this process, a child that was asked something, without exit handlers.

    Drivers have crashed in theirs after right results; those are not what is asked.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _decode(output: bytes) -> Answer:
    # A driver may print lines of its own before ours.
    line = _last_line(output)
    try:
        return Answer(json.loads(line))
    except ValueError:
        return Answer(failure=f"answered nonsense: {line[:80]!r}")


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
