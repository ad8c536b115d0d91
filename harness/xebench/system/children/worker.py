"""A worker process as its parent sees it: start, send, receive, watch, and describe its end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from xebench.system.children import process
from xebench.system.children.channel import ActivityPage, Receiver, Sender, UnreadableMessage
from xebench.system.children.process import how_it_ended

# Seconds between two looks at a worker that says nothing: often enough that 80 % of the memory do not become all
# of it in between, seldom enough not to be seen in what is measured.
LOOK_S: Final = 0.2

#: Seconds between two looks after which this process counts as stopped: it was not merely busy.
STOPPED_S: Final = 2.0

# A process that hangs in a driver may outlive SIGKILL.
_PATIENCE_S: Final = 10.0

T = TypeVar("T")


class WorkerEnded(Exception):
    """A worker did not finish its request; the message says why."""


class WorkerDied(WorkerEnded):
    """The worker ended by itself, by a signal that a crash sends, or since it had more memory than it may."""


class WorkerKilled(WorkerEnded):
    """Somebody else killed the worker, or the system did, which was out of memory."""


class WorkerHung(WorkerEnded):
    """The worker said nothing for too long."""


class WorkerProcess(Generic[T]):
    """One worker.

    Args:
        module: what it runs (`xebench.system.children.channel` is its side of the conversation).
        arguments: of its command line.
        answers: the union of the messages that it sends.
        memory_limit_bytes: resident memory at which the worker is ended; None for no limit.
        poll: called a few times a second while the worker is listened to.

    Attributes:
        activity: what it is doing.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        answers: Any,
        *,
        memory_limit_bytes: int | None = None,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        self._limit_bytes = memory_limit_bytes
        self._poll = poll
        self._looked_s = 0.0
        self._exceeded_bytes = 0
        self._kills_before = system_memory_kills()
        self.activity = ActivityPage.create()
        requests_in, requests_out = os.pipe()
        answers_in, answers_out = os.pipe()
        descriptors = (requests_in, answers_out, self.activity.descriptor)
        # Native libraries print to standard output and error; what they said last explains a crash. In memory, since
        # the disk may be what is full.
        self._printed = os.memfd_create("xebench-worker-output")
        self._process = process.start(
            process.python_module(module, *map(str, (*descriptors, memory_limit_bytes or 0)), *arguments),
            output=self._printed,
            errors=self._printed,
            descriptors=descriptors,
        )
        os.close(requests_in)
        os.close(answers_out)
        self._descriptors = (requests_out, answers_in, self._printed)
        self._sender = Sender(requests_out)
        self._receiver: Receiver[T] = Receiver(answers_in, answers)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_large(self) -> bool:
        """True if the process occupies more than half of what it may."""
        return self._limit_bytes is not None and resident_bytes(self.pid) > self._limit_bytes / 2

    def ask(self, request: msgspec.Struct) -> None:
        """Send a request; a dead worker shows at the next :meth:`listen`."""
        with contextlib.suppress(BrokenPipeError):
            self._sender.send(request)

    def listen(self, timeout_s: float, look: Callable[[], None] = lambda: None) -> T:
        """The worker's next message.

        Args:
            timeout_s: how long it may say nothing, but for the time in which this process was stopped itself.
            look: called a few times a second while it does.

        Raises:
            WorkerHung: nothing came within ``timeout_s``.
            WorkerKilled: the process was killed by somebody else; everything that it sent was heard before.
            WorkerDied: the process ended otherwise, or what it sends is no message.
        """
        deadline = time.monotonic() + timeout_s
        ticked_s = time.perf_counter()
        while True:
            if self._look_is_due():
                look()
            left = deadline - time.monotonic()
            # what it started may hold the pipe open for longer than it lives
            ended = self._process.poll() is not None
            try:
                message = self._receiver.receive(max(0.0, min(LOOK_S, left)))
            except UnreadableMessage as error:
                raise WorkerDied(f"the worker sent {error}") from None
            except TimeoutError:
                if ended:
                    raise self._ended() from None
                # where this process did not come to look, the worker did not come to answer: their machine was stopped
                tick_s = time.perf_counter() - ticked_s
                ticked_s += tick_s
                deadline += tick_s if tick_s > STOPPED_S else 0.0
                if time.monotonic() >= deadline:
                    raise WorkerHung(f"no answer for {timeout_s:g} s") from None
                continue
            if message is None:
                raise self._ended()
            return message

    def _look_is_due(self) -> bool:
        """Look after the worker, unless that was just now."""
        if (now := time.monotonic()) - self._looked_s < LOOK_S:
            return False
        self._looked_s = now
        self._poll()
        if self._limit_bytes is not None and not self._exceeded_bytes:
            used = resident_bytes(self.pid)
            if used > self._limit_bytes:
                self._exceeded_bytes = used
                self.kill()
        return True

    def _ended(self) -> WorkerEnded:
        code = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(_PATIENCE_S)
        if self._exceeded_bytes:
            assert self._limit_bytes is not None
            return WorkerDied(
                f"out of memory: the worker had {_gib(self._exceeded_bytes)}, and may have "
                f"{_gib(self._limit_bytes)} (--memory-limit)"
            )
        if code is None:
            return WorkerDied("it closed its pipe and does not end")
        if code == -signal.SIGKILL and system_memory_kills() > self._kills_before:
            return WorkerKilled("out of memory: the system killed the worker")
        printed = os.pread(self._printed, os.fstat(self._printed).st_size, 0).decode(errors="replace")
        return (WorkerKilled if code == -signal.SIGKILL else WorkerDied)(how_it_ended(code, printed))

    def kill(self) -> None:
        """End the process at once, and all that it has started; what it sent before can still be listened to."""
        process.kill(self.pid)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        process.end(self._process, _PATIENCE_S)
        for descriptor in self._descriptors:
            os.close(descriptor)
        self.activity.close()


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 30):.1f} GiB"


def resident_bytes(pid: int) -> int:
    """Memory that a process occupies now; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):  # an empty file: it is ending
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def system_memory_kills(root: Path = Path("/")) -> int:
    """The number of processes that the system's out-of-memory killer has ended since the system started."""
    try:
        match = re.search(r"^oom_kill (\d+)$", (root / "proc/vmstat").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1]) if match else 0
