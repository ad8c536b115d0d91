"""Events of commands on the device, with their times and an explicit lifetime."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Callable
from typing import Any, ClassVar

from xebench.dpex import dpctl_library
from xebench.dpex.dpex_errors import ProfilingUnavailable
from xebench.system.sycl_types import Event, Queue

# References to unfinished commands whose DeviceEvent was dropped, with the memory that they still use.
_orphans: list[tuple[int, Any]] = []
_FEW_ORPHANS = 64
_next_look = _FEW_ORPHANS


def _adopt(reference: int, keep: Any) -> None:
    global _next_look  # noqa: PLW0603
    _orphans.append((reference, keep))
    if len(_orphans) >= _next_look:
        _release_finished()
        # Looking again only when there are twice as many keeps the cost of each constant.
        _next_look = max(_FEW_ORPHANS, 2 * len(_orphans))


def _release_finished(wait: bool = False) -> None:
    unfinished = []
    with contextlib.suppress(IndexError):
        while True:
            reference, keep = _orphans.pop()
            if wait:
                dpctl_library.event_wait(reference)
            if dpctl_library.event_status(reference) == dpctl_library.STATUS_COMPLETE:
                dpctl_library.event_delete(reference)
            else:
                unfinished.append((reference, keep))
    _orphans.extend(unfinished)


atexit.register(_release_finished, wait=True)


def _why_no_times(queue: Queue) -> str:
    if queue is None or not queue.has_enable_profiling:
        return "the event has no times: make its queue with enable_profiling"
    device = queue.sycl_device
    return (
        f"the driver of {device.name.strip()} ({device.backend.name}) gives no times of commands, so nothing can be "
        "measured on it: update the driver, or choose another device"
    )


class DeviceEvent:
    """The event of one command.

    It keeps the command's arguments alive until the command has finished, also when the event itself is dropped
    earlier. Anything with ``addressof_ref`` (this, ``dpctl.SyclEvent``) can be a dependency of a launch.

    Attributes:
        queue: that the command was submitted to, if whoever did so has said it.
        watcher: of the class: called with each event that is waited for, or None for a whole queue, as long as somebody
            looks at a call.
    """

    watcher: ClassVar[Callable[[DeviceEvent | None], None] | None] = None

    __slots__ = ("_done", "_keep", "_reference", "queue")

    def __init__(self, sycl_event: Event, keep: Any = None) -> None:
        """The same event as a ``dpctl.SyclEvent``; ``keep`` stays alive until the command has finished."""
        self._reference: int = dpctl_library.event_copy(sycl_event.addressof_ref())
        self._keep = keep
        self._done = False
        self.queue: Any = None

    @classmethod
    def own(cls, reference: int, keep: Any = None) -> DeviceEvent:
        """Take over a ``DPCTLSyclEventRef`` and keep ``keep`` alive until the command has finished."""
        event = cls.__new__(cls)
        event._reference = reference
        event._keep = keep
        event._done = False
        event.queue = None
        return event

    def wait(self) -> None:
        """Block until the command has finished; other Python threads run meanwhile."""
        if DeviceEvent.watcher is not None:
            DeviceEvent.watcher(self)
        dpctl_library.event_wait(self._reference)
        self._done = True
        self._keep = None

    @property
    def is_complete(self) -> bool:
        """Whether the command has finished, without blocking."""
        if not self._done and dpctl_library.event_status(self._reference) == dpctl_library.STATUS_COMPLETE:
            self._done = True
            self._keep = None
        return self._done

    def times(self) -> tuple[int, int, int]:
        """Wait, then the times of submission, start and end in ns of the device's clock.

        Raises:
            ProfilingUnavailable: dpctl answers 0, since the queue was made without ``enable_profiling``, or the driver
                gives no times.
        """
        if not self._done:
            self.wait()
        reference = self._reference
        end = dpctl_library.event_end_ns(reference)
        if end == 0:
            raise ProfilingUnavailable(_why_no_times(self.queue))
        return dpctl_library.event_submit_ns(reference), dpctl_library.event_start_ns(reference), end

    @property
    def sycl_event(self) -> Any:
        """The event as a ``dpctl.SyclEvent``, for dpctl's own calls (``memcpy_async(dEvents=[...])``)."""
        return dpctl_library.sycl_event_of(self._reference)

    def addressof_ref(self) -> int:
        """Address of the ``DPCTLSyclEventRef``, as dpctl's objects give theirs."""
        return self._reference

    def __del__(self) -> None:
        reference = getattr(self, "_reference", None)
        if reference is None:
            return
        if self._keep is None or self.is_complete:
            dpctl_library.event_delete(reference)
        else:
            _adopt(reference, self._keep)
