"""A worker process as its manager sees it: start, ask, listen, look after it, and tell how it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.children.activity import Beacon
from harness.children.messages import Receiver, Sender
from harness.children.process_exit import how_it_ended
from harness.children.process_memory import resident_bytes, system_memory_kills
from harness.vocabulary import Status

# Seconds between two looks at a worker that says nothing: often enough that 80 % of the memory do not become all
# of it in between, seldom enough not to be seen in what is measured.
LOOK_S: Final = 0.2

# A process that hangs in a driver may outlive SIGKILL.
_BURIAL_S: Final = 10.0


class WorkerEnded(Exception):
    """A worker did not finish what it was asked for; ``status`` is that of the case at work."""

    status = Status.CRASHED


class WorkerDied(WorkerEnded):
    """The worker ended by itself, or by a signal; the message says how."""


class WorkerOutOfMemory(WorkerEnded):
    """The worker had more memory than it may, and was ended."""


class WorkerHung(WorkerEnded):
    """The worker said nothing for too long."""

    status = Status.TIMEOUT


class WorkerProcess:
    """One worker on one device.

    Args:
        device: SYCL filter string.
        memory_limit_bytes: resident memory at which the worker is ended; None for no limit.
        poll: called a few times a second while the worker is listened to.
    """

    def __init__(
        self, device: str, *, memory_limit_bytes: int | None = None, poll: Callable[[], None] = lambda: None
    ) -> None:
        self._limit_bytes = memory_limit_bytes
        self._poll = poll
        self._looked_s = 0.0
        self._outgrown_bytes = 0
        self._kills_before = system_memory_kills()
        self.beacon = Beacon.create()
        requests_in, requests_out = os.pipe()
        answers_in, answers_out = os.pipe()
        descriptors = (requests_in, answers_out, self.beacon.descriptor)
        # Native libraries print to standard output and error; what they said last explains a crash. In memory, since
        # the disk may be what is full.
        self._said = os.memfd_create("xebench-worker-output")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "harness.runner.worker.serve", *map(str, descriptors), device],
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=self._said,
        )
        os.close(requests_in)
        os.close(answers_out)
        self._descriptors = (requests_out, answers_in, self._said)
        self._sender, self._receiver = Sender(requests_out), Receiver(answers_in)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, kind: str, **content: Any) -> None:
        """Send a request; a dead worker shows at the next :meth:`listen`."""
        with contextlib.suppress(BrokenPipeError):
            self._sender.send(kind, **content)

    def listen(self, timeout_s: float) -> Mapping[str, Any]:
        """The worker's next message.

        Raises:
            WorkerHung: nothing came within ``timeout_s``.
            WorkerOutOfMemory: the process was ended for its memory; everything that it sent was heard before.
            WorkerDied: the process ended.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            self._look()
            left = deadline - time.monotonic()
            try:
                message = self._receiver.receive(max(0.0, min(LOOK_S, left)))
            except TimeoutError:
                if left <= LOOK_S:
                    raise WorkerHung(f"no answer for {timeout_s:g} s") from None
                continue
            if message is None:
                raise self._end()
            return message

    def _look(self) -> None:
        if (now := time.monotonic()) - self._looked_s < LOOK_S:
            return
        self._looked_s = now
        self._poll()
        if self._limit_bytes is not None and not self._outgrown_bytes:
            used = resident_bytes(self.pid)
            if used > self._limit_bytes:
                self._outgrown_bytes = used
                self.kill()

    def _end(self) -> WorkerEnded:
        code = self._bury()
        if self._outgrown_bytes:
            assert self._limit_bytes is not None
            return WorkerOutOfMemory(
                f"out of memory: the worker had {_gib(self._outgrown_bytes)}, and may have "
                f"{_gib(self._limit_bytes)} (--memory-limit)"
            )
        if code == -signal.SIGKILL and system_memory_kills() > self._kills_before:
            return WorkerOutOfMemory("out of memory: the system killed the worker")
        if code is None:
            return WorkerDied("it closed its pipe and does not end")
        return WorkerDied(how_it_ended(code, self._output()))

    def _output(self) -> str:
        return os.pread(self._said, os.fstat(self._said).st_size, 0).decode(errors="replace")

    def kill(self) -> None:
        """End the process at once; what it sent before can still be listened to."""
        if self._process.poll() is None:
            self._process.kill()

    def _bury(self) -> int | None:
        try:
            return self._process.wait(_BURIAL_S)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self.kill()
        self._bury()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self.beacon.close()


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 30):.1f} GiB"
