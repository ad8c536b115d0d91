"""The present activity of a worker, readable by its parent even after the worker was killed.

A message would wake the parent on another core in the middle of a measurement; some bytes of shared memory do not.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Sequence
from typing import Final

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
