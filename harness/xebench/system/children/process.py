"""Start a program that ends with this process and ends its own children; describe its end; request one answer."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from xebench.errors import XebenchError
from xebench.system import PACKAGES

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36

#: Signals that end a command. A batch system may send them to every process of a job, of whom one answers.
STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_as_child(main: Callable[[list[str]], int]) -> NoReturn:
    """All that a module which is started by its name does as a program.

    When the parent is killed so is this process, and what a pattern forks within it. It leaves without exit handlers:
    drivers have crashed in their exit handlers after right results.

    Args:
        main: takes the arguments of the command line, gives the exit status.
    """
    die_with_parent()
    # orphans of its children become its own children, so that `kill` finds them
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
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
    """Make the system kill this process when its parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class _Forks:
    """Lets no fork of a process outlive the process that it comes from."""

    def note_parent(self) -> None:
        self._parent = os.getpid()

    def die_with_parent(self) -> None:
        die_with_parent()
        if os.getppid() != self._parent:  # it was killed before that was requested
            os._exit(1)


def be_the_first_to_go() -> None:
    """Make the system end this process first when memory runs out, not the parent, which keeps the results."""
    with suppress(OSError):
        score = Path("/proc/self/oom_score_adj")
        score.write_text(str(min(1000, int(score.read_text()) + 500)))


def end_a_fork(pid: int) -> None:
    """End this process when it is not ``pid`` but a fork of it that has come back into our code.

    It would do everything that follows a second time, and say so to the same parent.
    """
    if os.getpid() != pid:
        os._exit(1)


_POLL_S: Final = 0.02

#: Seconds between two looks for a stopping signal while threads work.
_LOOK_S: Final = 0.2

_BEGIN: Final = Path(__file__).with_name("begin.py")

_running: set[int] = set()

_stopping = threading.Event()

T = TypeVar("T")

R = TypeVar("R")


def python_module(module: str, *arguments: str) -> list[str]:
    """The command of a child process that runs a module with this very ``harness``, whatever lies in its folder.

    What it prints is not buffered: a crash loses none of it.
    """
    return [sys.executable, "-uP", str(_BEGIN), module, *arguments]


def start(
    command: Sequence[str],
    *,
    output: int,
    errors: int,
    folder: Path | None = None,
    descriptors: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program with empty standard input; call `end` afterwards.

    Args:
        command: program and arguments.
        output, errors: destinations of both streams, as for `subprocess`.
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
    """Kill every process of a session that `start` began, also when its first one has ended.

    While that lives, processes are killed too which it, or its children, have begun in other sessions or groups.
    """
    import psutil  # most commands end no process

    others: list[psutil.Process] = []
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGSTOP)  # a process that ended meanwhile would hide those that it has begun
    with suppress(psutil.Error):
        others = psutil.Process(pid).children(recursive=True)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for other in others:
        with suppress(psutil.Error):
            other.kill()


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
    """Run a program to its end, and end every process that it started.

    Args:
        command: program and arguments.
        timeout_s: seconds that it may take.
        folder: its working directory.
        errors: destination of standard error, as for `subprocess`; by default standard output.

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
            # a signal delivered to another thread is handled when this one wakes
            while (looked := wait(futures, _LOOK_S, FIRST_EXCEPTION)).not_done:
                for future in looked.done:
                    future.result()
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


_LONGEST: Final = 160

#: LLVM's message inside a driver at any crash; it does not describe the present one.
_BANNER: Final = re.compile(r"PLEASE (submit a bug report|ATTACH)|^Stack dump")

#: Files that are not a pattern's: installed packages and ours.
_LIBRARY: Final = re.compile("|".join([r"/lib/python\d", *(f"^{re.escape(str(package))}/" for package in PACKAGES)]))

_FRAME: Final = re.compile(r'File "(.+)", line (\d+) in (.+)')


def how_it_ended(code: int, printed: str = "") -> str:
    """One line for an exit status as :mod:`subprocess` gives it (negative: a signal) and the output before it."""
    if code == -signal.SIGKILL:
        # a process cannot crash with this signal: another process sent it
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
    """The innermost Python frame that faulthandler printed, of the pattern if it has one: ``/a/file.py:7 (name)``."""
    _, fatal, after = printed.rpartition("Fatal Python error")
    frames: list[tuple[str, str, str]] = _FRAME.findall(after) if fatal else []
    if not frames:
        return ""
    path, line, function = next((frame for frame in frames if not _LIBRARY.search(frame[0])), frames[0])
    return f"{path}:{line} ({function})"


@dataclass(frozen=True)
class ChildReply:
    """A child process's answer: decoded JSON, or why there is none (one line)."""

    value: Any = None
    failure: str | None = None


def ask(module: str, arguments: Sequence[str] = (), *, timeout_s: float) -> ChildReply:
    """Run ``python -m module arguments`` and decode the last line that it prints as JSON.

    A module that ends with a status of its own says why in the last line of its errors.
    """
    try:
        child = run(python_module(module, *arguments), timeout_s, errors=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return ChildReply(failure=f"no answer within {timeout_s:g} s")
    if child.returncode > 0 and (reason := last_line(child.stderr)):
        return ChildReply(failure=reason)
    if child.returncode:
        return ChildReply(failure=how_it_ended(child.returncode, child.stderr))
    # a driver may print lines of its own before ours
    line = last_line(child.stdout)
    try:
        return ChildReply(json.loads(line))
    except ValueError:
        return ChildReply(failure=f"answered nonsense: {line[:80]!r}")


def answer(question: Callable[[list[str]], Any]) -> NoReturn:
    """The main program of such a module: print what a function gives for its arguments as JSON.

    A `XebenchError` is one line on standard error and its exit status.
    """

    def main(arguments: list[str]) -> int:
        try:
            print(json.dumps(question(arguments)))
        except XebenchError as error:
            print(error, file=sys.stderr)
            return error.exit_code
        return 0

    run_as_child(main)
