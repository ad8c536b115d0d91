"""Start a program at the head of a session of its own, so that whatever it starts ends with it and with the command."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

_POLL_S: Final = 0.02
_BEGIN: Final = Path(__file__).with_name("begin.py")
_running: set[int] = set()
_stopping = threading.Event()

T = TypeVar("T")
R = TypeVar("R")


def python_module(module: str, *arguments: str) -> list[str]:
    """The command of a child process that runs a module with this very ``harness``, whatever lies in its folder."""
    return [sys.executable, "-P", str(_BEGIN), module, *arguments]


def start(
    command: Sequence[str],
    *,
    output: int,
    errors: int,
    folder: Path | None = None,
    descriptors: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program that has nothing to read; `end` must follow.

    Args:
        command: program and arguments.
        output, errors: where they go, as for `subprocess`.
        folder: its working directory.
        descriptors: file descriptors that it inherits.

    Raises:
        InterruptedError: the command is being stopped (`in_threads`).
    """
    if _stopping.is_set():
        raise InterruptedError("the command is being stopped")
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        pass_fds=descriptors,
        start_new_session=True,
    )
    _running.add(process.pid)
    return process


def kill(pid: int) -> None:
    """Kill every process of a session that `start` began, also when its first one has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def end(process: subprocess.Popen[bytes], patience_s: float | None = None) -> int | None:
    """Kill a session; the exit status of its first process, None when that does not end in ``patience_s``."""
    kill(process.pid)
    _running.discard(process.pid)
    try:
        return process.wait(patience_s)
    except subprocess.TimeoutExpired:
        return None


def run(
    command: Sequence[str],
    timeout_s: float | None = None,
    *,
    folder: Path | None = None,
    errors: int = subprocess.STDOUT,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; nothing that it has started outlasts the call.

    Args:
        command: program and arguments.
        timeout_s: seconds that it may take.
        folder: its working directory.
        errors: where its errors go, as for `subprocess`; into its output otherwise.

    Raises:
        subprocess.TimeoutExpired: it took longer, and was killed.
    """
    with start(command, output=subprocess.PIPE, errors=errors, folder=folder) as process:
        try:
            streams = process.communicate(timeout=timeout_s)
        finally:
            end(process)
    texts = [(stream or b"").decode(errors="replace") for stream in streams]
    return subprocess.CompletedProcess(list(command), process.returncode, *texts)


def in_threads(function: Callable[[T], R], items: Iterable[T], threads: int) -> list[R]:
    """``function`` of each item, several at a time, in the items' order.

    An exception, such as Ctrl-C, kills the processes that ``function`` has started.
    """
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _stopping.set()
            try:
                while not all(future.done() for future in futures):
                    for pid in tuple(_running):
                        kill(pid)
                    time.sleep(_POLL_S)
            finally:
                _stopping.clear()
            raise
