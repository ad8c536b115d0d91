"""A program that records launches may take them over: `recorded_by` names who takes those of `call_kernel`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from numba_sycl.sycl_types import Event, Queue


class Recording(Protocol):
    """Takes direct calls."""

    def launch_directly(self, kernel: Any, index_space: Any, arguments: Sequence[Any], depends: Sequence[Event]) -> Any:
        """Launch a kernel; gives its event."""

    def call_directly(self, function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Call a function of a library."""

    def note_directly(
        self,
        kind: str,
        name: str,
        queue: Queue,
        event: Event,
        copied: tuple[Any, Any, int] | None = None,
    ) -> None:
        """Record a command that was submitted to a queue; of a copy where to, where from and how many bytes."""

    def doubt_directly(self, why: str, queue: Queue) -> None:
        """Note that commands on a queue are not recorded."""


_session: Recording | None = None


class _Unrecorded(threading.local):
    """See `unrecorded`. It is entered for every copy of a sample: a generator would take four times as long."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


#: A block in which direct calls of this thread are not recorded, as within a library.
unrecorded: Final = _Unrecorded()


def recording() -> Recording | None:
    """The session that takes direct calls of this thread; None if none does."""
    return None if unrecorded.depth else _session


class recorded_by:  # noqa: N801 a block
    """Record the direct calls of all threads in this session during a block; None records nothing."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, session: Recording | None) -> None:
        self._inner = session

    def __enter__(self) -> None:
        global _session
        self._outer, _session = _session, self._inner

    def __exit__(self, *_: object) -> None:
        global _session  # noqa: PLW0603
        _session = self._outer
