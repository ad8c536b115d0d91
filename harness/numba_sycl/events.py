"""Events of commands on the device: their times and their lifetime, and commands refused for want of a clock."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
from collections.abc import Callable
from typing import Any, ClassVar, Final

import dpctl
import numpy as np

from numba_sycl import native_handles
from numba_sycl.errors import ArgumentError, CommandRefused, ProfilingUnavailable, SubmissionError
from numba_sycl.signature import as_usm_array
from numba_sycl.sycl_types import Event, Queue, UsmArray

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
                native_handles.event_wait(reference)
            if native_handles.event_status(reference) == native_handles.STATUS_COMPLETE:
                native_handles.event_delete(reference)
            else:
                unfinished.append((reference, keep))
    _orphans.extend(unfinished)


atexit.register(_release_finished, wait=True)


def _why_no_times(queue: Queue | None) -> str:
    if queue is None:
        return "the event has no times: its queue was made without enable_profiling, or its driver gives none"
    if not queue.has_enable_profiling:
        return "the event has no times: make its queue with enable_profiling"
    device = queue.sycl_device
    return (
        f"the driver of {device.name.strip()} ({device.backend.name}) gives no times of commands, so nothing can be "
        "measured on it: update the driver, or choose another device"
    )


def _why_refused(queue: Queue | None) -> str:
    driver = "the driver" if queue is None else f"the driver of {queue.sycl_device.name.strip()}"
    return (
        f"{driver} gave a command up (its event's status is an error): its index space, or what it needs of the "
        "device, may be beyond a limit that the driver does not state"
    )


class DeviceEvent:
    """The event of one command.

    It keeps the command's arguments alive until the command has finished, also when the event itself is dropped
    earlier. Anything with ``addressof_ref`` (this, ``dpctl.SyclEvent``) can be a dependency of a launch.

    Attributes:
        queue: queue that the command was submitted to, if the submitting code set it.
        watcher: callback of the class with each event that is waited for, or None for a whole queue, while a call is
            observed.
    """

    watcher: ClassVar[Callable[[DeviceEvent | None], None] | None] = None

    __slots__ = ("_done", "_keep", "_reference", "queue")

    def __init__(self, sycl_event: Event, keep: Any = None) -> None:
        """The same event as a ``dpctl.SyclEvent``; ``keep`` stays alive until the command has finished."""
        self._reference: int = native_handles.event_copy(sycl_event.addressof_ref())
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
        """Block until the command has finished; other Python threads run meanwhile.

        Raises:
            CommandRefused: the driver has given it up.
        """
        if DeviceEvent.watcher is not None:
            DeviceEvent.watcher(self)
        native_handles.event_wait(self._reference)
        self._keep = None
        if native_handles.event_status(self._reference) == native_handles.STATUS_UNKNOWN:
            raise CommandRefused(_why_refused(self.queue))
        self._done = True

    @property
    def is_complete(self) -> bool:
        """True if the command has finished, without blocking."""
        if not self._done and native_handles.event_status(self._reference) == native_handles.STATUS_COMPLETE:
            self._done = True
            self._keep = None
        return self._done

    def times(self) -> tuple[int, int, int]:
        """Wait, then the times of submission, start and end in ns of the device's clock.

        Raises:
            CommandRefused: see `wait`.
            ProfilingUnavailable: dpctl answers 0, since the queue was made without ``enable_profiling``, or the driver
                gives no times.
        """
        if not self._done:
            self.wait()
        reference = self._reference
        end = native_handles.event_end_ns(reference)
        if end == 0:
            raise ProfilingUnavailable(_why_no_times(self.queue))
        return native_handles.event_submit_ns(reference), native_handles.event_start_ns(reference), end

    @property
    def sycl_event(self) -> Any:
        """The event as a ``dpctl.SyclEvent``, for dpctl's own calls (``memcpy_async(dEvents=[...])``)."""
        return native_handles.sycl_event_of(self._reference)

    def addressof_ref(self) -> int:
        """Address of the ``DPCTLSyclEventRef``, as dpctl's objects give theirs."""
        return self._reference

    def __del__(self) -> None:
        reference = getattr(self, "_reference", None)
        if reference is None:
            return
        if self._keep is None or self.is_complete:
            native_handles.event_delete(reference)
        else:
            _adopt(reference, self._keep)


NO_CLOCK_MESSAGE: Final = (
    "its driver takes commands only without profiling: it has no clock (seen with a Level Zero loader of another age "
    "than the driver): install both from one release, or choose another device"
)


def lacks_clock(queue: Queue) -> bool:
    """True if the driver of the queue's device takes a copy of one byte on a queue without profiling only."""
    return queue.has_enable_profiling and _takes_a_copy(queue, []) and not _takes_a_copy(queue, ["enable_profiling"])


def _takes_a_copy(queue: Queue, properties: list[str]) -> bool:
    try:
        other = dpctl.SyclQueue(queue.sycl_context, queue.sycl_device, property=["in_order", *properties])
        other.memcpy_async(bytearray(1), b"1", 1).wait()
    except Exception:  # dpctl has an error of its own for each method
        return False
    return True


_FILL_TYPES = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}

_FILLS = {
    size: native_handles.bind(
        f"DPCTLQueue_Fill{8 * size}", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, kind, ctypes.c_size_t
    )
    for size, kind in _FILL_TYPES.items()
}


def fill(queue: Queue, array: UsmArray, value: Any) -> DeviceEvent:
    """Submit a fill (``sycl::queue::fill``); returns at once.

    Args:
        queue: the ``dpctl.SyclQueue``.
        array: a contiguous USM array of elements of 1, 2, 4 or 8 bytes.
        value: value of every element, which the array's dtype must represent.

    Raises:
        ArgumentError: not such an array.
        SubmissionError: the runtime refused it.
    """
    target = as_usm_array(array)
    if target is None or not target.flags.c_contiguous or target.itemsize not in _FILL_TYPES:
        raise ArgumentError("fill takes a contiguous USM array of elements of 1, 2, 4 or 8 bytes")
    element = np.asarray(value).astype(target.dtype)
    pattern = int(element.reshape(1).view(f"u{target.itemsize}")[0])
    reference = _FILLS[target.itemsize](queue.addressof_ref(), target._pointer, pattern, target.size)
    if not reference:
        why = f": {NO_CLOCK_MESSAGE}" if lacks_clock(queue) else "; DPCTL_VERBOSITY=error prints why"
        raise SubmissionError(f"the runtime refused to fill an array{why}")
    return DeviceEvent.own(reference, target)
