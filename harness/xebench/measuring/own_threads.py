"""The threads that a variant starts: they must not work on when a call is over, since that work is not timed."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

from xebench.errors import XebenchError

#: How long threads are looked at, and the processor time that a waiting one does not use meanwhile.
_LOOK_S: Final = 0.01
_AT_WORK_NS: Final = 100_000


class OwnThreads:
    """The threads that Python started in calls of a family's variants; earlier threads belong to no variant."""

    def __init__(self) -> None:
        self._owners: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()
        self.note("")

    def note(self, variant: str) -> None:
        """Record new threads as a variant's, when a call of it is over."""
        for thread in threading.enumerate():
            if thread not in self._owners:  # this is asked after each sample
                self._owners[thread] = "" if _is_anothers(thread) else variant

    def used_ns(self, variant: str) -> dict[threading.Thread, int]:
        """The processor time that each thread of a variant has used when a call of it is over."""
        self.note(variant)
        return {thread: _used_ns(thread) for thread, owner in self._owners.items() if owner == variant}

    @staticmethod
    def see_them_wait(used_ns: Mapping[threading.Thread, int]) -> None:
        """Check that threads have waited since then.

        Raises:
            XebenchError: one of them works.
        """
        if used_ns:
            time.sleep(_LOOK_S)
        for thread, before_ns in used_ns.items():
            if _used_ns(thread) - before_ns > _AT_WORK_NS:
                raise XebenchError(
                    f"its thread {thread.name} works on when the call is over: have the sample wait for its threads"
                )


def _is_anothers(thread: threading.Thread) -> bool:
    """True for a thread of this package, and for a driver's thread that has called into Python."""
    target = getattr(thread, "_target", None)  # it is gone when the thread is over
    own = str(getattr(target, "__module__", "")).partition(".")[0] == __name__.partition(".")[0]
    return own or isinstance(thread, threading._DummyThread)


def _used_ns(thread: threading.Thread) -> int:
    """Processor time that a thread has used; 0 when it has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text().partition(" ")[0])
    return 0
