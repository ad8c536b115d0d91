"""Child processes of a pool of threads: when the command is stopped, all of them are."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

_POLL_S: Final = 0.02
_running: set[int] = set()
_stopping = threading.Event()

T = TypeVar("T")
R = TypeVar("R")


def run(
    call: Sequence[str], folder: Path, timeout_s: float | None = None, *, stderr: int = subprocess.STDOUT
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process group of its own, so that what it starts ends with it when time is over.

    Args:
        call: program and arguments.
        folder: its working directory.
        timeout_s: seconds that it may take.
        stderr: where its errors go, as for `subprocess`; into its output otherwise.

    Raises:
        subprocess.TimeoutExpired: it took longer, and was killed.
    """
    if _stopping.is_set():
        raise InterruptedError("the command is being stopped")
    with subprocess.Popen(
        call,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        _running.add(process.pid)
        try:
            said, complained = process.communicate(timeout=timeout_s)
        except BaseException:
            _kill(process.pid)
            raise
        finally:
            _running.discard(process.pid)
    return subprocess.CompletedProcess(list(call), process.returncode, said, complained)


def in_threads(function: Callable[[T], R], items: Iterable[T], threads: int) -> list[R]:
    """``function`` of each item, several at a time, in the items' order.

    An exception, such as Ctrl-C, kills the programs that ``function`` has called with `run`.
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
                        _kill(pid)
                    time.sleep(_POLL_S)
            finally:
                _stopping.clear()
            raise


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
