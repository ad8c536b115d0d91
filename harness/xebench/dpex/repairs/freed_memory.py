"""Memory of a session's queues is freed.

Symptom: what is allocated on a queue of a class derived from ``dpctl.SyclQueue`` stays until the process ends.
Cause: dpctl 0.17 frees memory only where the class of its queue is ``SyclQueue`` itself.
Cure: classes derived from dpctl's three kinds of memory, in whose place they stand, free what dpctl leaves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from dpctl import memory
from dpctl._sycl_queue import SyclQueue

from xebench.dpex import native_handles

_KINDS: Final = ("MemoryUSMDevice", "MemoryUSMShared", "MemoryUSMHost")


def _free(self: Any, *, process_ends: Callable[[], bool] = sys.is_finalizing) -> None:
    if process_ends():  # which frees everything; names of modules mean nothing any more
        return
    # memory that belongs to another object, or was never allocated, is not this one's
    if self.reference_obj is None and self._pointer and type(self._queue) is not SyclQueue:
        native_handles.free_with_queue(self._pointer, self._queue.addressof_ref())


def apply() -> None:
    """Put the classes in the place of dpctl's, where ``dpctl.tensor`` and dpnp look them up."""
    for name in _KINDS:
        kind = getattr(memory, name)
        setattr(memory, name, type(name, (kind,), {"__del__": _free, "__doc__": kind.__doc__, "__module__": __name__}))
