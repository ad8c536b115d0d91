"""Have a queue wait for commands of another one, where the SYCL runtime forgets it.

DPC++ 2024.2 hands a kernel to an in-order queue, and a barrier to any queue, without the events of other queues that it
depends on: ``SYCL_PI_TRACE=-1`` shows none, and results are wrong. A copy keeps its events. So a copy of one byte goes
first, which the in-order queue, or the barrier, waits for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dpctl
import dpctl.memory

from xebench.dpex import DeviceEvent, direct_calls
from xebench.system.sycl_types import Event


class Waits:
    """The waits of a session's queues."""

    def __init__(self) -> None:
        self._bytes: dict[dpctl.SyclQueue, tuple[Any, Any]] = {}

    def before_kernel(self, queue: dpctl.SyclQueue, depends: Sequence[Event]) -> Sequence[Any]:
        """The events that a kernel on the queue must depend on, when the queue waits for the rest."""
        if depends and queue.is_in_order and self._others(queue, depends):
            self._copy_a_byte(queue, depends)
            return ()
        return depends

    def before_barrier(self, queue: dpctl.SyclQueue, depends: Sequence[Event]) -> list[Any]:
        """The events that a barrier on the queue must depend on, when the queue waits for the rest."""
        if depends and self._others(queue, depends):
            return [self._copy_a_byte(queue, depends)]
        return [as_sycl(event) for event in depends]

    def forget(self, queues: Sequence[dpctl.SyclQueue]) -> None:
        """Drop what belongs to these queues."""
        for queue in queues:
            self._bytes.pop(queue, None)

    @staticmethod
    def _others(queue: dpctl.SyclQueue, depends: Sequence[Event]) -> bool:
        # of an event that the session did not make nobody knows the queue
        return any(getattr(event, "queue", None) is not queue for event in depends)

    def _copy_a_byte(self, queue: dpctl.SyclQueue, depends: Sequence[Event]) -> Any:
        if queue not in self._bytes:
            pair = (dpctl.memory.MemoryUSMDevice(1, queue=queue), dpctl.memory.MemoryUSMDevice(1, queue=queue))
            self._bytes.setdefault(queue, pair)  # another thread's may be in use by now
        target, source = self._bytes[queue]
        with direct_calls.unrecorded:
            return queue.memcpy_async(target, source, 1, [as_sycl(event) for event in depends])


def as_sycl(event: Event) -> Any:
    """An event as dpctl's own calls take it."""
    return event.sycl_event if isinstance(event, DeviceEvent) else event
