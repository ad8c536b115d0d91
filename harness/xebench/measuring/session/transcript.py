"""The requests of a variant to its device in one call: two variants with equal requests are one program.

Kernels stand for themselves by the order of their first launches; whether their code is the same is asked apart, since
a driver may make one machine code of two kernels (`xebench.dpex.native_code`).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dpctl
import numpy as np

from xebench.dpex import DeviceEvent
from xebench.dpex.device_kernel import DeviceKernel
from xebench.dpex.launch import PreparedLaunch
from xebench.dpex.signature import as_usm_array
from xebench.system.sycl_types import Event, UsmArray


class Transcript:
    """Commands on one device in one context, with sizes, arguments, queues, dependences and waits.

    Args:
        queue: the session's own.

    Attributes:
        kernels: in the order of their first launches.
        lost: why it does not hold everything, in a few words; "" where it does. Of memory that the host can write, of
            libraries and of other devices nobody sees what is done with them.
    """

    def __init__(self, queue: dpctl.SyclQueue) -> None:
        self.kernels: list[DeviceKernel] = []
        self.lost = ""
        self._steps = hashlib.sha256()
        self._own = queue
        self._queues = [queue]
        self._memory: dict[int, str] = {}
        self._events: dict[Event, int] = {}
        self._thread = threading.get_ident()

    @property
    def steps(self) -> str:
        """The same for equal calls, whatever their kernels' code."""
        return self._steps.hexdigest()

    def lose(self, why: str) -> None:
        """Something is done that is not noted; the first reason counts."""
        self.lost = self.lost or why

    def allocated(self, array: UsmArray, words: str) -> None:
        """Record an allocation; addresses differ from call to call, so a number identifies it."""
        self._memory[array.usm_data._pointer] = f"memory {len(self._memory)}"
        self._note("allocate", array.shape, array.dtype, words)

    def launched(
        self, launch: PreparedLaunch | None, arguments: Sequence[Any], depends: Sequence[Event], event: DeviceEvent
    ) -> None:
        """A kernel was submitted."""
        if launch is None or launch.queue is not event.queue:
            self.lose("threads submit side by side")
            return
        if launch.device_kernel not in self.kernels:
            self.kernels.append(launch.device_kernel)
        sizes = launch.global_size, launch.local_size, launch.local_bytes
        kernel = self.kernels.index(launch.device_kernel)
        self.submitted(event, depends, "launch", kernel, *sizes, *map(self._argument, arguments))

    def submitted(self, event: DeviceEvent, depends: Sequence[Event], *words: object) -> None:
        """Any command was submitted."""
        others = [self._events.get(each) for each in depends]
        if None in others:
            self.lose("it waits for commands of others")
        self._events[event] = len(self._events)
        self._note(self._queue(event.queue), others, *words)

    def waited(self, event: DeviceEvent | None) -> None:
        """The host waits for a command, or for all of a queue."""
        self._note("wait", event and self._events.get(event))

    def copied(self, destination: Any, source: Any, depends: Sequence[Event], event: DeviceEvent) -> None:
        """A copy was submitted."""
        origin = self._argument(source)
        if isinstance(source, np.ndarray) and source.flags.writeable:  # the problem's cannot be written
            origin = hashlib.blake2b(np.ascontiguousarray(source).view(np.uint8).data).hexdigest()
        self.submitted(event, depends, "copy", self._argument(destination), origin)

    def filled(self, array: UsmArray, value: Any, event: DeviceEvent) -> None:
        """A fill was submitted."""
        self.submitted(event, (), "fill", self._argument(array), self._argument(value))

    def _argument(self, value: Any) -> str:
        if isinstance(value, np.ndarray):
            return f"{value.__array_interface__['data'][0]} {value.shape} {value.dtype}"
        array = as_usm_array(value)
        if array is None:
            return f"{type(value).__name__} {value!r}" if np.isscalar(value) else type(value).__name__
        memory = array.usm_data
        if memory.get_usm_type() != "device":
            self.lose("it has memory that the host can write")
        at = array.__sycl_usm_array_interface__["data"][0] - memory._pointer
        known = self._memory.get(memory._pointer, memory._pointer)
        return f"{known} {at} {array.shape} {array.strides} {array.dtype}"

    def _queue(self, queue: dpctl.SyclQueue) -> str:
        if queue.sycl_context != self._own.sycl_context or queue.sycl_device != self._own.sycl_device:
            self.lose("it uses several devices or contexts")
        if queue not in self._queues:
            self._queues.append(queue)
        return f"queue {self._queues.index(queue)} {queue.is_in_order}"

    def _note(self, *words: object) -> None:
        if threading.get_ident() != self._thread:
            self.lose("threads submit side by side")
        self._steps.update(f"{words}\n".encode())

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note what the host waits for."""
        DeviceEvent.watcher = self.waited
        try:
            yield
        finally:
            DeviceEvent.watcher = None
