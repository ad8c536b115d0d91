"""The command in this process: what it answers to wrong use needs no process of its own, which takes two seconds."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import pytest

from xebench.cli.main import main


class Done(NamedTuple):
    """A command that has ended, as far as `subprocess.CompletedProcess` goes."""

    returncode: int
    stdout: str
    stderr: str


#: What the fixture `here` gives (`tests/conftest.py`).
Here = Callable[..., Done]


def run_quietly(*arguments: object) -> Done:
    """The command in this process, for tests and fixtures alike: its status and what it wrote."""
    output, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(errors):
        status = run_here(patch, *arguments)
    return Done(status, output.getvalue(), errors.getvalue())


def run_here(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """The exit status of the command; what it says is the test's to capture."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(sys, "argv", ["xebench", *map(str, arguments)])
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(signal.SIGTERM, before)
    return int(ended.value.code or 0)
