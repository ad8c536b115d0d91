"""The requests of a variant to its device in one call, and the begin and end of each call of the host.

A transcript identifies kernels by the order of their first launches. Their code is compared separately, since a driver
may make one machine code of two kernels (`numba_sycl.device_kernel`).

Readings of the clock take time. So samples have none: a variant is called once more after them, and for so long
stand-ins read the clock before and after the functions that submit, wait, allocate, compile and build. What samples
run is the same code as ever.
"""

from __future__ import annotations

import functools
import hashlib
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from math import prod
from typing import Any, Final

import dpctl
import numpy as np

from numba_sycl import DeviceEvent, kernel_store
from numba_sycl.device_kernel import DeviceKernel
from numba_sycl.launch import PreparedLaunch
from numba_sycl.signature import as_usm_array, index_space_extents, name_of
from numba_sycl.sycl_types import Event, UsmArray
from xebench.dpex import direct_calls
from xebench.records.events import EventTimes, HostCall
from xebench.session.buffers.buffer import Buffer, HostAccessor
from xebench.session.recorder import NO_TRAFFIC, Pending, Recorder, TimedEvent, Traffic


class Transcript:
    """Commands on one device in one context, with sizes, arguments, queues, dependences and waits.

    Args:
        queue: the session's own.

    Attributes:
        kernels: kernels in the order of their first launches.
        lost: short reason why the transcript is incomplete; "" if it is complete. Memory that the host can write, calls
            of libraries and other devices cannot be traced.
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
        """Note that something is missing here; the first reason counts."""
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

    def paused(self, seconds: float) -> None:
        """The host sleeps on purpose."""
        self._note("pause", seconds)

    def copied(self, destination: Any, source: Any, depends: Sequence[Event], event: DeviceEvent) -> None:
        """A copy was submitted."""
        origin = self._argument(source)
        if isinstance(source, np.ndarray) and source.flags.writeable:  # the problem's cannot be written
            origin = f"{zlib.crc32(np.ascontiguousarray(source).data)} {source.nbytes}"
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


class _Call:
    """One call of the host, as a block: other threads go on."""

    __slots__ = ("_outer", "_trace", "began_ns", "ended_ns", "kind", "name", "thread")

    def __init__(self, trace: HostTrace, kind: str) -> None:
        self._trace = trace
        self.kind = kind
        self.name = kind
        self.began_ns = self.ended_ns = 0
        self.thread = trace.thread()

    def __enter__(self) -> _Call:
        self._outer = self._trace.current
        self._trace.current = self
        self.began_ns = self._trace.clock()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended_ns = self._trace.clock()
        self._trace.current = self._outer
        # a wait for all queues calls the wait of each queue: keep the outer call only
        if self.kind != SUBMISSION and (self._outer is None or self._outer.kind != self.kind):
            self._trace.kept.append(self)

    def as_allocation(self, what: str) -> _Call:
        """The same call as one that allocates."""
        own = _Call(self._trace, "allocation")
        own.name, own.began_ns, own.ended_ns = f"allocate {what}", self.began_ns, self.ended_ns
        return own


def _is_new_array(result: Any, arguments: Sequence[Any]) -> bool:
    """True if a library returned an array with memory of its own."""
    made = as_usm_array(result)
    if made is None:
        return False
    given = chain.from_iterable(each.values() if isinstance(each, Mapping) else each for each in arguments)
    memory = {array.usm_data._pointer for each in given if (array := as_usm_array(each)) is not None}
    return made.usm_data._pointer not in memory


#: Kind of calls that submit a command. The command's event has their times, so they get no row of their own.
SUBMISSION: Final = "submission"


class _Recorder(Recorder):
    """Records for each command the call that submitted it, and when the host had waited for it."""

    def __init__(self, trace: HostTrace) -> None:
        self._trace = trace
        super().__init__()

    def begin(self) -> None:
        """Discard the record so far."""
        super().begin()
        self._calls: dict[int, _Call | None] = {}
        self._over: dict[int, int] = {}
        self._names: dict[int, str] = {}

    def add(self, kind: str, name: str, queue: int, event: TimedEvent, traffic: Traffic = NO_TRAFFIC) -> None:
        """Remember one event."""
        self._note(name, event)
        super().add(kind, name, queue, event, traffic)

    def add_bracket(self, name: str, queue: int, first: TimedEvent, last: TimedEvent) -> None:
        """Remember library work between two barriers."""
        self._note(name, last)
        super().add_bracket(name, queue, first, last)

    def _note(self, name: str, event: TimedEvent) -> None:
        # events are kept until they are read: their addresses are theirs alone
        self._calls[id(event)] = self._trace.current
        self._names[id(event)] = name

    def name_of(self, event: TimedEvent) -> str:
        """The name of a command; ``a command`` if its submission was not recorded."""
        return self._names.get(id(event), "a command")

    def is_over(self, event: TimedEvent) -> None:
        """Record that the host has just waited for a command."""
        if id(event) in self._calls:
            self._over.setdefault(id(event), self._trace.clock())

    def wait(self) -> None:
        """Wait for every event."""
        with _Call(self._trace, "wait") as call:
            call.name = "wait for all commands"
            super().wait()

    def _read(self, event: Pending, clock: int) -> EventTimes:
        call, over = self._calls.get(id(event.last)), self._over.get(id(event.last))
        read = super()._read(event, clock)
        if call is None:
            return read._replace(over_host_ns=over)
        return read._replace(
            submit_began_host_ns=call.began_ns,
            submit_ended_host_ns=call.ended_ns,
            over_host_ns=over,
            thread=call.thread,
        )


#: Names of what waits in SYCL's runtime, by function.
_WAITS: Final = {"__enter__": "open a host accessor", "free": "free a buffer"}


class HostTrace:
    """The host's calls in one execution.

    Args:
        clock: clock of the host, in ns.

    Attributes:
        recorder: recorder of the execution's commands.
        kept: calls that submit nothing, by end time.
        launches: number of launches and of their work-items, by kernel.
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        self.clock = clock
        self.recorder = _Recorder(self)
        self.kept: list[_Call] = []
        self.launches: dict[str, tuple[int, int]] = {}
        self._threads = {threading.get_ident(): 0}
        self._own = threading.local()

    @property
    def current(self) -> _Call | None:
        """The innermost call that this thread is in."""
        return getattr(self._own, "call", None)

    @current.setter
    def current(self, call: _Call | None) -> None:
        self._own.call = call

    def thread(self) -> int:
        """The number of this thread."""
        return self._threads.setdefault(threading.get_ident(), len(self._threads))

    @contextmanager
    def installed(self, session: type) -> Iterator[None]:
        """Put stand-ins in place of the host's calls during a block; ``session``: the class that variants use."""
        queue = direct_calls.RecordedQueue
        replaced = [
            *((session, name, SUBMISSION) for name in ("launch", "copy", "fill", "barrier", "call", "call_directly")),
            *((queue, name, SUBMISSION) for name in ("submit", "submit_async", "memcpy_async", "submit_barrier")),
            (session, "alloc", "allocation"),
            (session, "new_queue", "queue"),
            (session, "queues_on", "queue"),
            (queue, "wait", "wait"),
            (HostAccessor, "__enter__", "wait"),
            (Buffer, "free", "wait"),
            (DeviceEvent, "wait", "wait"),
            (kernel_store, "compile_for", "compile"),
            (kernel_store, "build", "build"),
        ]
        originals = [(owner, name, vars(owner)[name]) for owner, name, _ in replaced]
        for owner, name, kind in replaced:
            setattr(owner, name, self._stand_in(vars(owner)[name], kind))
        try:
            yield
        finally:
            for owner, name, original in originals:
                setattr(owner, name, original)

    def _stand_in(self, original: Callable[..., Any], kind: str) -> Callable[..., Any]:
        @functools.wraps(original)
        def stand_in(*arguments: Any, **options: Any) -> Any:
            with _Call(self, kind) as call:
                result = original(*arguments, **options)
            if original.__name__ == "call_directly" and _is_new_array(result, arguments[2:]):
                self.kept.append(call.as_allocation(f"{result.nbytes} bytes for {arguments[1].__name__}"))
            call.name = self._name(kind, original.__name__, arguments, result)
            if original.__name__ == "launch":
                self._count(*arguments[1:3])
            if isinstance(arguments[0], DeviceEvent):
                self.recorder.is_over(arguments[0])
            return result

        return stand_in

    def _count(self, kernel: Any, index_space: Any) -> None:
        count, items = self.launches.get(name_of(kernel), (0, 0))
        self.launches[name_of(kernel)] = count + 1, items + prod(index_space_extents(index_space)[0])

    def _name(self, kind: str, function: str, arguments: tuple[Any, ...], result: Any) -> str:
        if kind == "allocation":
            return f"allocate {result.nbytes} bytes of {result.usm_type} memory"
        if kind == "compile":
            return f"{'find compiled' if result.cached else 'compile'} {name_of(arguments[0])}"
        if kind == "build":
            return f"build {arguments[0].name}"
        if isinstance(arguments[0], DeviceEvent):
            return f"wait for {self.recorder.name_of(arguments[0])}"
        return _WAITS.get(function, "wait for a queue") if kind == "wait" else function

    def calls(self, begin_ns: int, host_ns: int) -> list[HostCall]:
        """All recorded calls of an execution, ordered by their begin: a call precedes those within it."""
        kept = [HostCall(call.began_ns, call.ended_ns, call.kind, call.name, call.thread) for call in self.kept]
        whole = HostCall(begin_ns, begin_ns + host_ns, "execution", "one execution")
        kept = [call for call in kept if call.submit_ended_host_ns <= whole.submit_ended_host_ns]  # else ours
        return sorted([whole, *kept], key=lambda call: (call.submit_began_host_ns, -call.submit_ended_host_ns))
