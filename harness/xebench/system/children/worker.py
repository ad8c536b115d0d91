"""A worker process as its parent sees it: start, send, receive, watch, and describe its end."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import re
import select
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from xebench.system.children import process
from xebench.system.children.process import end_a_fork, how_it_ended

#: Index of the current item, and name of the stage.
_LAYOUT: Final = struct.Struct("<q24s")

_NOTHING: Final = -1


class ActivityPage:
    """A page of memory that is shared by descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, mmap.PAGESIZE)
        self._pid = os.getpid()

    @classmethod
    def create(cls) -> ActivityPage:
        """A new page; its descriptor can be passed to a child process."""
        descriptor = os.memfd_create("xebench-activity")
        os.ftruncate(descriptor, mmap.PAGESIZE)
        page = cls(descriptor)
        page.show(None, "start")
        return page

    def show(self, number: int | None, stage: str) -> None:
        """Show which of the requested items is in which stage; a name of 24 letters at most."""
        end_a_fork(self._pid)
        _LAYOUT.pack_into(self._memory, 0, _NOTHING if number is None else number, stage.encode())

    def read(self, names: Sequence[str] = ()) -> tuple[str | None, str]:
        """Read the current item's name (None for nothing) and its stage.

        Bytes that another program wrote there are read as no item in an unknown stage.

        Args:
            names: names of the requested items.
        """
        number, letters = _LAYOUT.unpack_from(self._memory)
        stage = letters.rstrip(b"\0").decode("ascii", errors="replace")
        if not stage.isidentifier():
            return None, "unknown stage"
        return (names[number] if 0 <= number < len(names) else None), stage

    def close(self) -> None:
        """Release the shared memory."""
        self._memory.close()
        os.close(self.descriptor)


#: Characters of a line that is no message, for the error about it.
_SHOWN: Final = 60

T = TypeVar("T")


class UnreadableMessage(Exception):
    """The input is no message: the other side is broken, and nothing after it can be trusted."""


class Sender:
    """Write messages to a file descriptor; several threads may, forks of the process may not.

    A message is a line of JSON. The bytes of its arrays follow: as text they took four times as long.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pid = os.getpid()
        self._file = os.fstat(descriptor)
        # a pipe that is full takes a message in pieces, and another thread's must not come between them
        self._lock = threading.Lock()

    def end_if_closed(self) -> None:
        """End the process if the descriptor has changed: the code that ran last has closed it."""
        with contextlib.suppress(OSError):
            if os.path.samestat(self._file, os.fstat(self._descriptor)):
                return
        os._exit(1)

    def send(self, message: msgspec.Struct) -> None:
        """Write one message.

        Raises:
            BrokenPipeError: the reader is gone.
        """
        end_a_fork(self._pid)
        arrays: list[bytes] = []
        line = msgspec.json.encode(message, enc_hook=partial(_plain, arrays)) + b"\n"
        with self._lock:
            for part in (line, *arrays):
                data = memoryview(part)  # what is left of it is not copied
                while data:
                    data = data[os.write(self._descriptor, data) :]


def _plain(arrays: list[bytes], value: Any) -> Any:
    """Numpy's arrays by what describes them, their bytes into ``arrays``; its scalars as Python's."""
    if hasattr(value, "tobytes") and hasattr(value, "__array__") and hasattr(value, "__len__"):
        arrays.append(value.tobytes())
        return {"dtype": value.dtype.str, "shape": value.shape}
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"a message cannot hold a {type(value).__name__}")


class Receiver(Generic[T]):
    """Read messages from a file descriptor, with a time limit.

    Args:
        descriptor: file descriptor of the pipe.
        messages: the union of their types; every one is validated.
    """

    def __init__(self, descriptor: int, messages: Any) -> None:
        self._descriptor = descriptor
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(messages, dec_hook=self._array)
        self._rest = b""  # that was read, and is no part of a message yet
        self._begun: list[bytes] = []  # of the line that is still to come: a pipe hands over 64 KiB of it at once
        self._message: T | None = None  # of which arrays are still to come
        self._arrays: list[memoryview] = []  # what is left of them

    def receive(self, timeout_s: float | None = None) -> T | None:
        """The next message, or None at the end of the stream.

        Raises:
            TimeoutError: no whole message came within ``timeout_s``.
            UnreadableMessage: a line came that is no message.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while (message := self._taken()) is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([self._descriptor], [], [], left)
            if not ready:
                raise TimeoutError
            if not self._read():
                return None
        return message

    def _read(self) -> int:
        """Read what has come, if it is an array straight to where it belongs; return how much that was."""
        if not self._arrays:
            self._rest = os.read(self._descriptor, 1 << 20)
            return len(self._rest)
        count = os.readv(self._descriptor, self._arrays[:1])
        self._arrays[0] = self._arrays[0][count:]
        return count

    def _taken(self) -> T | None:
        """Take the next message out of what was read; None if it has not wholly come."""
        if self._message is None:
            line, end, self._rest = self._rest.partition(b"\n")
            self._begun.append(line)
            if not end:
                return None
            line, self._begun = b"".join(self._begun), []
            self._message = self._decoded(line)
        while self._arrays:
            part = self._arrays[0]
            count = min(len(self._rest), len(part))
            part[:count], self._rest = self._rest[:count], self._rest[count:]
            if count < len(part):
                self._arrays[0] = part[count:]
                return None
            del self._arrays[0]
        message, self._message = self._message, None
        return message

    def _decoded(self, line: bytes) -> T:
        self._arrays = []
        try:
            return self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            shown = line[:_SHOWN].decode(errors="replace")
            raise UnreadableMessage(f"a message that cannot be read: {shown!r} ({error})") from None

    def _array(self, kind: type, sent: Any) -> Any:
        """An array whose bytes follow the message; it cannot be written."""
        import numpy as np  # most channels have none

        if kind is not np.ndarray:
            raise NotImplementedError(f"a message cannot hold a {kind.__name__}")
        array = np.empty(sent["shape"], sent["dtype"])
        self._arrays.append(array.reshape(-1).view(np.uint8).data)
        array.setflags(write=False)
        return array


class Parent:
    """The worker's side of a `xebench.system.children.worker.WorkerProcess`.

    Args:
        arguments: command-line arguments; those that this class does not use stay in ``arguments``.

    Attributes:
        answers: sends messages to the parent.
        activity: shared memory in which the parent sees the worker's current work.
        memory_limit_bytes: resident memory at which it ends the worker; infinite without a limit.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._reading, writing, page = descriptors = [int(argument) for argument in arguments[:3]]
        for descriptor in descriptors:
            # a program that a pattern starts must not inherit them: it would keep the pipes open
            os.set_inheritable(descriptor, False)
        self.memory_limit_bytes = int(arguments[3]) or math.inf
        self.arguments = arguments[4:]
        self.answers = Sender(writing)
        self.activity = ActivityPage(page)

    def requests(self, messages: Any) -> Receiver[Any]:
        """The parent's requests, until it ends; ``messages`` is the union of their types."""
        return Receiver(self._reading, messages)


# Seconds between two looks at a worker that says nothing: often enough that 80 % of the memory do not become all
# of it in between, seldom enough not to be seen in what is measured.
LOOK_S: Final = 0.2

#: Seconds between two looks after which this process counts as stopped: it was not merely busy.
STOPPED_S: Final = 2.0

# A process that hangs in a driver may outlive SIGKILL.
_PATIENCE_S: Final = 10.0


class WorkerEnded(Exception):
    """A worker did not finish its request; the message says why."""


class WorkerDied(WorkerEnded):
    """The worker ended by itself, by a signal that a crash sends, or since it had more memory than it may."""


class WorkerKilled(WorkerEnded):
    """Another process killed the worker, or the system did when memory ran out."""


class WorkerHung(WorkerEnded):
    """The worker said nothing for too long."""


class WorkerProcess(Generic[T]):
    """One worker.

    Args:
        module: module to run (`xebench.system.children.worker` has its side of the conversation).
        arguments: command-line arguments.
        answers: the union of the messages that it sends.
        memory_limit_bytes: resident memory at which the worker is ended; None for no limit.
        poll: callback, called a few times per second while listening.
        output: descriptor that its output goes to; None for a file of its own.

    Attributes:
        activity: current work of the process.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        answers: Any,
        *,
        memory_limit_bytes: int | None = None,
        poll: Callable[[], object] = lambda: None,
        output: int | None = None,
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
        self._printed = os.memfd_create("xebench-worker-output") if output is None else os.dup(output)
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
            timeout_s: longest silence in seconds, excluding time in which this process itself was stopped.
            look: callback, called a few times per second meanwhile.

        Raises:
            WorkerHung: nothing came within ``timeout_s``.
            WorkerKilled: another process killed it; all messages sent before were received.
            WorkerDied: the process ended otherwise, or sent an invalid message.
        """
        deadline = time.monotonic() + timeout_s
        ticked_s = time.perf_counter()
        while True:
            if self._look_is_due():
                look()
            left = deadline - time.monotonic()
            # its child processes may hold the pipe open after its end
            ended = self._process.poll() is not None
            try:
                message = self._receiver.receive(max(0.0, min(LOOK_S, left)))
            except UnreadableMessage as error:
                raise WorkerDied(f"the worker sent {error}") from None
            except TimeoutError:
                if ended:
                    raise self._ended() from None
                # if this process was stopped, so was the worker: do not count that time
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
        """End the process at once."""
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
