"""The harness's side of a session: its queues, and the record of the commands submitted to them."""

from __future__ import annotations

import itertools
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import dpctl

from numba_sycl import DeviceEvent, recording
from numba_sycl.sycl_types import Device
from xebench.dpex import direct_calls
from xebench.errors import XebenchError, first_line
from xebench.session.device_lacks import lack_of
from xebench.session.recorder import MeasuredSample, Recorder
from xebench.session.session_kernels import Compilation, LaunchObserver, SessionKernels
from xebench.session.several_devices import (
    SeveralDevices,
    Waits,
)
from xebench.session.spread import ALONE, Ranks
from xebench.session.transcript import HostTrace, Transcript

#: Out-of-order queues of CPUs stay until the process ends (7 kB each). Intel's driver (2026.2) destroys a queue within
#: the task of its last command if nothing else refers to it, and waits there for this same task to end:
#: the thread is lost, and commands of sub-devices, which the host's thread does not help with, never start.
_out_of_order: list[dpctl.SyclQueue] = []


#: Longest query of an idle queue in ns: on a busy machine it takes 10 us, and 100 us in 5 of 10,000 cases.
IDLE_NS = 100_000


class RecordedQueues(recording.Recording):
    """One device, its queues, and a record of the commands submitted to them.

    Args:
        queue: in-order queue with profiling (see :meth:`on`).
        kernels: compiles and submits kernels.
        clock: host clock in ns.

    Attributes:
        watched: queues that are not recorded. Work still running on them after a sample counts as late.
        doubt: reason to doubt the times of the commands since :meth:`begin`, with its cure; "" if there is none.
        device: the ``dpctl.SyclDevice``: its properties are the device's limits.
        parameters: sizes and axes of the variant at work, by name.
        queue: the session's own queue: in order, with profiling.
        records_direct_calls: True to record ``call_kernel`` and library functions that a variant calls directly
            (:mod:`xebench.dpex.direct_calls`). False for host times, which include the calls but should exclude the
            recording.
    """

    def __init__(
        self, queue: dpctl.SyclQueue, kernels: SessionKernels, *, clock: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        self.queue = queue
        self.device = queue.sycl_device
        self.parameters: Mapping[str, Any] = {}
        self.records_direct_calls = True
        self._numbers = itertools.count(1)
        self._queues = {queue: 0}
        self.watched: list[dpctl.SyclQueue] = []
        self.doubt = ""
        self._scratch: list[weakref.ref[Any]] = []
        self._clock_of: dict[dpctl.SyclQueue, int] = {}  # where that is not 0: see `EventTimes`
        self._several: dict[tuple[int, str, bool], tuple[SeveralDevices, dpctl.SyclContext]] = {}
        self._ran_on: dict[str, None] = {}
        self._ranks: Ranks = ALONE
        self._first_device = self.device
        self._measuring = False
        self._spent_ns = 0  # in calls that submit, by any thread; readings of threads that meet may be lost
        self._transcript: Transcript | None = None
        self._recorder = Recorder()
        self._kernels = kernels
        self._clock = clock

    @cached_property
    def _waits(self) -> Waits:
        return Waits()

    def load_builds(self) -> None:
        """Load what the driver of a CPU device has built in this process, until the session is released.

        Loaded code lies at a new address, as rebuilt code does, and loading takes a 15th of the time. A variant that
        calls `forget_builds` has its kernels built.
        """
        self._kernels.loads = True

    def watching(self) -> AbstractContextManager[None]:
        """Record direct calls in this block, if this session records them."""
        return recording.recorded_by(self if self.records_direct_calls else None)

    @contextmanager
    def observing(self, observer: LaunchObserver) -> Iterator[None]:
        """Call ``observer`` before each launch in this block."""
        before, self._kernels.observer = self._kernels.observer, observer
        try:
            yield
        finally:
            self._kernels.observer = before

    @contextmanager
    def transcribing(self) -> Iterator[Transcript]:
        """Record the requests to the device in this block."""
        self._transcript = Transcript(self.queue)
        try:
            with self._transcript.watching():
                yield self._transcript
        finally:
            self._transcript = None

    def begin(self) -> None:
        """Start a new sample.

        Raises:
            XebenchError: a variant called it; the commands of its sample so far would be forgotten.
        """
        if self._measuring:
            raise XebenchError("session.begin and session.measure belong to the harness: do not call them")
        self._recorder.begin()
        self.doubt = ""

    def doubt_directly(self, why: str, queue: dpctl.SyclQueue) -> None:
        """Note why commands on a queue are not timed; what it still does when a sample is over is late."""
        self.doubt = self.doubt or why
        if queue not in self.watched:
            self.watched.append(queue)

    def pause(self, seconds: float) -> None:
        """Sleep, as a program that has work of its own on the host.

        The pause is part of the program, so variants that differ by it alone are not the same, and it is no unrecorded
        work.
        """
        began = self._clock()
        time.sleep(seconds)
        if self._transcript is not None:
            self._transcript.paused(seconds)
        self._spent_ns += self._clock() - began

    def measure(self, timed: Callable[[], Any], batch: int = 1) -> MeasuredSample:
        """Run one sample: ``batch`` executions, each of them until everything that it submitted is over.

        Executions are not let overlap, so a batch's mean is that of executions measured singly.

        Raises:
            XebenchError: a variant calls this, or has the interpreter call it when the sample is over.
        """
        self.begin()
        clock, recorder, built_before_ns = self._clock, self._recorder, self._kernels.build_ns
        self._spent_ns = 0
        with self.watching():
            self._measuring = True
            try:
                begin = clock()
                for _ in range(batch):
                    timed()
                    recorder.end_execution()
                end = clock()
            finally:
                self._measuring = False
        for queue in [*self._queues]:
            queue.wait()
        late_ns = clock() - end + self._longest_wait()
        executions = recorder.collect(self._clocks())
        if recorder.is_late:
            self.doubt = self.doubt or "a thread of it submits after the sample: let the sample wait for its threads"
        doubt = self.doubt
        self.begin()
        build_ns = self._kernels.build_ns - built_before_ns
        spent_ns = self._spent_ns
        return MeasuredSample(end - begin, late_ns, executions, build_ns, begin, session_ns=spent_ns, doubt=doubt)

    def trace(self, timed: Callable[[], Any]) -> MeasuredSample:
        """Run one execution whose host calls are timed; it is no sample, as the readings take time of their own."""
        recorder, trace = self._recorder, HostTrace(self._clock)
        self._recorder, recorded = trace.recorder, self.records_direct_calls
        self.records_direct_calls = True  # a library's calls show what the host does
        try:
            with trace.installed(type(self)):
                measured = self.measure(timed)
        finally:
            self._recorder, self.records_direct_calls = recorder, recorded
        return replace(measured, calls=trace.calls(measured.begin_ns, measured.host_ns), launches=trace.launches)

    def use_ranks(self, ranks: Ranks) -> None:
        """Use another communicator."""
        self._ranks = ranks

    def forget_queues(self, keep: int) -> None:
        """Drop queues that a sample made, and what was built for them; the first ``keep`` stay."""
        if dropped := [*self._queues][keep:]:
            for queue in dropped:
                del self._queues[queue]
                self._clock_of.pop(queue, None)
            self._numbers = itertools.count(keep)
            self._waits.forget(dropped)
            self._kernels.forget_other_contexts(self._queues)

    @property
    def queue_count(self) -> int:
        """The number of queues in the session."""
        return len(self._queues)

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Kinds and names of what was submitted since :meth:`begin`."""
        return self._recorder.commands

    def take_scratch(self) -> list[Any]:
        """The guarded arrays of :meth:`alloc` since the last call that are still in use."""
        taken, self._scratch = self._scratch, []
        return [array for watched in taken if (array := watched()) is not None]

    def take_compilations(self) -> list[Compilation]:
        """The compilations since the last call."""
        return self._kernels.take_compilations()

    def take_kernels(self) -> list[dict[str, Any]]:
        """Identity of the kernels launched since the last call."""
        return self._kernels.take_used()

    def take_launched(self) -> set[str]:
        """Hashes of the modules whose kernels were launched since the last call."""
        return self._kernels.take_launched()

    def take_devices(self) -> str | None:
        """The devices of queues that were used since the last call; None if it was only the session's own."""
        taken, self._ran_on = self._ran_on, {}
        return "; ".join(taken) or None

    def release(self) -> None:
        """Forget kernels, queues and sub-devices of the family that is over."""
        self._kernels.clear()
        self._several.clear()
        self._ran_on.clear()
        self.forget_queues(1)
        self._recorder.begin()

    def _longest_wait(self) -> int:
        """The time for which a watched queue had work, in ns; 0 for what the query of an idle one may take."""
        longest = 0
        for queue in self.watched:
            begin = self._clock()
            queue.wait()
            longest = max(longest, self._clock() - begin)
        return longest if longest > IDLE_NS else 0

    def _between_barriers(
        self,
        function: Callable[..., Any],
        queue: dpctl.SyclQueue,
        arguments: Sequence[Any],
        options: Mapping[str, Any],
    ) -> Any:
        if self._transcript is not None:
            self._transcript.lose("it calls a library")
        name = getattr(function, "__name__", "library")
        first = DeviceEvent(queue.submit_barrier())
        try:
            result = function(*arguments, **options)
        except RuntimeError as error:
            kind = lack_of(error, self.device)
            if kind is None:
                raise
            raise kind(f"{name} does not run on this device: {first_line(error)}") from error
        last = DeviceEvent(queue.submit_barrier())
        self._recorder.add_bracket(name, self._number(queue), first, last)
        return result

    def _new_queue(
        self, context: dpctl.SyclContext, device: Device, properties: list[str], clock: int = 0
    ) -> dpctl.SyclQueue:
        queue = self._keep_queue(direct_calls.RecordedQueue(context, device, property=properties))
        if clock:
            self._clock_of[queue] = clock
        return queue

    def _keep_queue(self, queue: dpctl.SyclQueue) -> dpctl.SyclQueue:
        if queue.sycl_device.is_cpu and not queue.is_in_order:
            _out_of_order.append(queue)
        self._number(queue)
        return queue

    def _clocks(self) -> dict[int, int]:
        return {self._queues[queue]: clock for queue, clock in self._clock_of.items()}

    def _number(self, queue: dpctl.SyclQueue) -> int:
        number = self._queues.get(queue)
        if number is None:
            if not queue.has_enable_profiling:
                raise XebenchError("commands on a queue without profiling have no times: use session.new_queue()")
            number = self._queues.setdefault(queue, next(self._numbers))
        return number
