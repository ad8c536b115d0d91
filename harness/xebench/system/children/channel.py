"""Messages over a pipe: one JSON object a line, each a `msgspec.Struct` of a tagged union that both sides declare.

A worker's standard output and error stay free for whatever native code prints.
"""

from __future__ import annotations

import base64
import os
import select
import threading
import time
from collections import deque
from typing import Any, Final, Generic, TypeVar

import msgspec

from xebench.system.children.lifetime import end_a_fork

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
