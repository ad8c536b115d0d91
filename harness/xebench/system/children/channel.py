"""A worker and its parent: messages over a pipe, one JSON object a line, and a page that shows what the worker does.

A message would wake the parent on another core in the middle of a measurement; some bytes of shared memory do not.

A worker's standard output and error stay free for whatever native code prints.
"""

from __future__ import annotations

import base64
import math
import mmap
import os
import select
import struct
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec

from xebench.system.children.lifetime import end_a_fork

#: The number of what is worked at, and the name of the stage.
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
        """Read what was shown last: the name of the item, None for nothing, and the stage.

        Whatever else may have been written there, by a program that writes to descriptors it does not know, is nothing
        in an unknown stage.

        Args:
            names: of the things that were asked for.
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
    """Write messages to a file descriptor; several threads may, forks of the process may not."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._encoder = msgspec.json.Encoder(enc_hook=_plain)
        self._pid = os.getpid()
        # a pipe that is full takes a message in pieces, and another thread's must not come between them
        self._lock = threading.Lock()

    def send(self, message: msgspec.Struct) -> None:
        """Write one message.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        end_a_fork(self._pid)
        data = memoryview(self._encoder.encode(message) + b"\n")  # what is left of it is not copied
        with self._lock:
            while data:
                data = data[os.write(self._descriptor, data) :]


class Receiver(Generic[T]):
    """Read messages from a file descriptor, with a time limit.

    Args:
        descriptor: of the pipe.
        messages: the union of their types; every one is validated.
    """

    def __init__(self, descriptor: int, messages: Any) -> None:
        self._descriptor = descriptor
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(messages, dec_hook=_array)
        self._lines: deque[bytes] = deque()
        self._begun: list[bytes] = []  # of the line that is still to come: a pipe hands over 64 KiB of it at once

    def receive(self, timeout_s: float | None = None) -> T | None:
        """The next message, or None at the end of the stream.

        Raises:
            TimeoutError: no whole message came within ``timeout_s``.
            UnreadableMessage: a line came that is no message.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._lines:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([self._descriptor], [], [], left)
            if not ready:
                raise TimeoutError
            data = os.read(self._descriptor, 1 << 20)
            if not data:
                return None
            *ended, rest = data.split(b"\n")
            if ended:
                ended[0] = b"".join([*self._begun, ended[0]])
                self._lines += ended
                self._begun = []
            self._begun.append(rest)
        line = self._lines.popleft()
        try:
            return self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            shown = line[:_SHOWN].decode(errors="replace")
            raise UnreadableMessage(f"a message that cannot be read: {shown!r} ({error})") from None


def _plain(value: Any) -> Any:
    """Numpy's arrays by their bytes, its scalars as Python's."""
    if hasattr(value, "tobytes") and hasattr(value, "__array__") and hasattr(value, "__len__"):
        return {"dtype": value.dtype.str, "shape": value.shape, "data": value.tobytes()}
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"a message cannot hold a {type(value).__name__}")


def _array(kind: type, sent: Any) -> Any:
    """An array that was sent; it cannot be written."""
    import numpy as np  # most channels have none

    if kind is not np.ndarray:
        raise NotImplementedError(f"a message cannot hold a {kind.__name__}")
    return np.frombuffer(base64.b64decode(sent["data"]), sent["dtype"]).reshape(sent["shape"])


class Parent:
    """The worker's side of a `xebench.system.children.worker.WorkerProcess`.

    Args:
        arguments: the command line's; what is not for this class stays in ``arguments``.

    Attributes:
        answers: takes what the parent is told.
        activity: where it looks when there is no answer.
        memory_limit_bytes: resident memory at which it ends the worker; infinite without a limit.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._reading, writing, page = descriptors = [int(argument) for argument in arguments[:3]]
        for descriptor in descriptors:
            # a program that a pattern starts has no business with them, and would keep the pipes open
            os.set_inheritable(descriptor, False)
        self.memory_limit_bytes = int(arguments[3]) or math.inf
        self.arguments = arguments[4:]
        self.answers = Sender(writing)
        self.activity = ActivityPage(page)

    def requests(self, messages: Any) -> Receiver[Any]:
        """The parent's requests, until it ends; ``messages`` is the union of their types."""
        return Receiver(self._reading, messages)
