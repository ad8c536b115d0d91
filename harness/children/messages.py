"""What a worker and its manager say to one another: one JSON object a line, over pipes of their own.

The worker's standard output and error stay free for whatever native code prints.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

#: Characters of a line that is no message, for the error about it.
_SHOWN: Final = 60


class UnreadableMessage(Exception):
    """What came is no message: the other side is broken, and nothing after it can be trusted."""


class Sender:
    """Write messages to a file descriptor; several threads may."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        # a pipe that is full takes a message in pieces, and another thread's must not come between them
        self._lock = threading.Lock()

    def send(self, kind: str, **content: Any) -> None:
        """Write one message.

        Raises:
            BrokenPipeError: nobody reads any more.
        """
        data = json.dumps({"kind": kind, **content}, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            while data:
                data = data[os.write(self._descriptor, data) :]


class Receiver:
    """Read messages from a file descriptor, with a time limit."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = b""

    def receive(self, timeout_s: float | None = None) -> Mapping[str, Any] | None:
        """The next message, or None at the end of the stream.

        Raises:
            TimeoutError: no whole message came within ``timeout_s``.
            UnreadableMessage: a line came that is no message.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while b"\n" not in self._buffer:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([self._descriptor], [], [], left)
            if not ready:
                raise TimeoutError
            data = os.read(self._descriptor, 1 << 20)
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return _parsed(line)


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:  # no JSON, or no UTF-8
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise UnreadableMessage(f"a message that cannot be read: {line[:_SHOWN].decode(errors='replace')!r}")
    return message
