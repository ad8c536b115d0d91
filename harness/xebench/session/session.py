"""The session: all that a variant sees of the harness. It records the event of every command."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dpctl
import dpnp
import numpy as np

from numba_sycl import DeviceEvent, KernelCompileError, ParametricKernel, recording, separate_context
from numba_sycl.events import fill
from numba_sycl.kernel_store import Submitter
from numba_sycl.signature import as_usm_array, name_of
from numba_sycl.sycl_types import Array, Event, UsmArray
from numba_sycl.tensor import usm_ndarray
from xebench.dpex import direct_calls
from xebench.dpex.foreign_parameters import Stream
from xebench.dpex.sycl_calls import flush
from xebench.errors import Unsupported, XebenchError
from xebench.session import device_memory
from xebench.session.buffers.buffer import Accessor, Buffer, Buffers, HostAccessor
from xebench.session.buffers.find import buffers_on
from xebench.session.device_memory import import_memory
from xebench.session.recorded_queues import RecordedQueues
from xebench.session.recorder import NO_TRAFFIC, Traffic
from xebench.session.session_kernels import SessionKernels
from xebench.session.several_devices import as_sycl, require_copyable, several_devices
from xebench.session.spread import Ranks, core_threads, cores, device_lanes
from xebench.system.runtime.devices import usual_sub_group_size
from xebench.system.runtime.partitions import devices_alike

#: Arguments that are objects of SYCL.
_OF_SYCL = {Accessor, Stream}


class Session(RecordedQueues):
    """One device as a variant sees it, and the queues to which it submits: see `RecordedQueues`."""

    @classmethod
    def on(cls, device: str) -> Session:
        """A session on the device of a SYCL filter string."""
        queue = direct_calls.RecordedQueue(device, property=["in_order", "enable_profiling"])
        return cls(queue, SessionKernels())

    @classmethod
    def of_rank(cls, ranks: Ranks, device: str) -> Session:
        """The session of a rank, on its own device: ranks take the devices of the platform in turn.

        Args:
            ranks: all ranks, on this machine.
            device: filter string of the run's device, used by rank 0.
        """
        first = dpctl.SyclDevice(device)
        alike = devices_alike(first)
        own = alike[ranks.comm.rank % len(alike)]
        session = cls(direct_calls.RecordedQueue(own, property=["in_order", "enable_profiling"]), SessionKernels())
        session._first_device = first
        session.use_ranks(ranks)
        return session

    # ---- what variants call -------------------------------------------------------------------------------------

    def launch(
        self,
        kernel: Any,
        index_space: Any,
        *arguments: Any,
        depends: Sequence[Event] = (),
        queue: dpctl.SyclQueue | None = None,
    ) -> DeviceEvent:
        """Submit a kernel; returns at once.

        Args:
            kernel: made by ``xebench.kernel``, ``opencl_kernel``, ``sycl_kernel``, ``spirv_kernel`` or
                ``numba_dpex.kernel``.
            index_space: ``kernel_api.Range`` or ``kernel_api.NdRange``.
            arguments: device arrays or accessors of buffers, numbers, ``LocalAccessor``, streams.
            depends: events that must be over before it starts.
            queue: a queue of :meth:`new_queue`; the session's own otherwise.

        Raises:
            Unsupported: the device's limits do not allow this launch.
        """
        began = self._clock()
        queue = queue or self.queue
        kernel = self.chosen(kernel)
        waits = self._waits.before_kernel(queue, depends) if depends else ()
        submitter = None if _OF_SYCL.isdisjoint(map(type, arguments)) else self._submitter(arguments)
        try:
            event = self._kernels.submit(kernel, queue, index_space, arguments, waits, submitter)
        except KernelCompileError as error:
            raise error.with_traceback(None) from None  # the way through the compiler shows nothing of the kernel
        event.queue = queue
        self._recorder.add("kernel", name_of(kernel), self._number(queue), event)
        if self._transcript is not None and submitter is None:
            self._transcript.launched(self._kernels.latest, arguments, depends, event)
        self._spent_ns += self._clock() - began
        return event

    def chosen(self, kernel: Any) -> Any:
        """The kernel itself; of one whose sub-group size is a parameter, that for the variant's."""
        return kernel.at(self.parameters) if isinstance(kernel, ParametricKernel) else kernel

    def copy(
        self,
        destination: Any,
        source: Any,
        *,
        depends: Sequence[Event] = (),
        queue: dpctl.SyclQueue | None = None,
    ) -> DeviceEvent:
        """Submit a copy between contiguous arrays of equal size; either may be a numpy array; returns at once.

        Raises:
            Unsupported: it is between two devices, and would hang.
        """
        began = self._clock()
        queue = queue or self.queue
        if self._several:
            require_copyable(destination, source)
        waits = [as_sycl(event) for event in depends]
        with recording.unrecorded:
            event = DeviceEvent(device_memory.copy_async(queue, destination, source, waits), keep=(destination, source))
        event.queue = queue
        traffic = device_memory.traffic(destination, source, destination.nbytes)
        self._recorder.add("copy", "memcpy", self._number(queue), event, traffic)
        if self._transcript is not None:
            self._transcript.copied(destination, source, depends, event)
        self._spent_ns += self._clock() - began
        return event

    def fill(self, array: UsmArray, value: Any, *, queue: dpctl.SyclQueue | None = None) -> DeviceEvent:
        """Submit a fill of a contiguous device array with one value; returns at once."""
        began = self._clock()
        queue = queue or self.queue
        event = fill(queue, array, value)
        event.queue = queue
        self._recorder.add("fill", "fill", self._number(queue), event, Traffic(array.nbytes))
        if self._transcript is not None:
            self._transcript.filled(array, value, event)
        self._spent_ns += self._clock() - began
        return event

    def call(
        self, function: Callable[..., Any], *arguments: Any, queue: dpctl.SyclQueue | None = None, **options: Any
    ) -> Any:
        """Call library code (dpnp) on a queue, between two barriers that time it; returns when the library does.

        Device arrays become dpnp arrays of that queue on the way in, without a copy. The library's commands cannot be
        seen one by one: the row's kind is ``library``. dpnp 0.15 waits for some of its functions, dpnp 0.20 for few.

        No events of the library's own are taken: dpnp 0.15 hands none out, and those that dpnp 0.20 keeps in dpctl's
        ``SequentialOrderManager`` are incomplete. It drops events of commands that are over, so that after ten calls of
        ``add`` none is left, and it never has those of ``fft`` and ``linalg.solve``.

        Args:
            function: takes arrays and the options.
            arguments: device arrays and anything else.
            queue: a queue of :meth:`new_queue` with the session's context; the session's own otherwise.
            options: handed on.

        Raises:
            XebenchError: the queue has another context, so the arrays are not its own.
            Unsupported: the library has no code for this device (dpnp says so by a RuntimeError of the SYCL runtime).
        """
        queue = queue or self.queue
        with recording.unrecorded:
            prepared = {name: _for_dpnp(value, queue) for name, value in options.items()}
            return self._between_barriers(function, queue, [_for_dpnp(value, queue) for value in arguments], prepared)

    def alloc(
        self,
        shape: int | tuple[int, ...],
        dtype: Any,
        *,
        usm: str = "device",
        queue: dpctl.SyclQueue | None = None,
    ) -> Any:
        """An uninitialised array in ``device``, ``shared`` or ``host`` USM; outside of samples it holds a poison.

        Raises:
            Unsupported: the device lacks this kind of USM, or the memory.
        """
        with recording.unrecorded:
            if usm == "device" and not self._measuring:
                array = device_memory.allocate_guarded(shape, dtype, queue or self.queue)
                self._scratch.append(weakref.ref(array))
            else:
                array = device_memory.allocate(shape, dtype, queue or self.queue, usm)
                if not self._measuring:
                    device_memory.spoil(array.usm_data)
            if self._transcript is not None:
                self._transcript.allocated(array, usm)
            return array

    def buffer(self, data: Array | int | tuple[int, ...], dtype: Any = None) -> Buffer:
        """A SYCL buffer, destroyed at the end of its ``with`` block: SYCL's own, or else OpenCL's.

        Its copies have no events, so the pattern's metric is ``wall``.

        Args:
            data: a contiguous numpy array, which holds the contents and is written back at the end unless it is
                read-only; or the shape of a buffer without contents.
            dtype: dtype of the elements, if ``data`` is a shape.

        Raises:
            Unsupported: neither is available, as on Level Zero without SYCL's headers or a C++ compiler.
        """
        self._untraced()
        if isinstance(data, np.ndarray):
            return Buffer(self._buffers, data.shape, data.dtype, data)
        shape = (data,) if isinstance(data, int) else tuple(data)
        return Buffer(self._buffers, shape, np.dtype(dtype), None)

    def accessor(
        self, buffer: Buffer, mode: str = "read_write", *, no_init: bool = False, queue: dpctl.SyclQueue | None = None
    ) -> Accessor:
        """An argument of :meth:`launch`: the kernel's access to a buffer.

        Args:
            buffer: buffer to access.
            mode: ``read``, ``write`` or ``read_write``; the runtime moves data and orders kernels by it.
            no_init: True if earlier contents are not needed.
            queue: queue of the launch, if its context is not the session's.
        """
        return Accessor(buffer, mode, queue or self.queue, no_init=no_init)

    def host_accessor(self, buffer: Buffer, mode: str = "read_write", *, no_init: bool = False) -> HostAccessor:
        """The host's access to a buffer within a ``with`` block, which begins when the buffer's kernels are over.

        Args:
            buffer: buffer to access.
            mode: ``read``, ``write`` or ``read_write``.
            no_init: True if earlier contents are not needed.
        """
        self._untraced()
        return HostAccessor(buffer, mode, no_init=no_init)

    def stream(self, size_bytes: int, statement_bytes: int) -> Stream:
        """An argument of :meth:`launch` for a ``sycl::stream``: prints to standard output when the kernel is over.

        Args:
            size_bytes: bytes of all that the kernel prints.
            statement_bytes: bytes of the longest statement of a work-item; more are lost.
        """
        return Stream(size_bytes, statement_bytes)

    def import_memory(self, array: Array) -> None:
        """Register the memory of a contiguous numpy array with the driver as host USM while the array lives.

        Raises:
            Unsupported: this is not Level Zero, or its driver has not taken it.
        """
        import_memory(array, self.queue)

    def new_queue(self, *, in_order: bool = True, context: str = "shared") -> dpctl.SyclQueue:
        """A further queue with profiling.

        Args:
            in_order: False for SYCL's default, where only dependences order commands.
            context: ``shared``: the session's; ``default``: what SYCL gives a queue that names none; ``separate``: a
                context of its own, which shares neither memory nor built kernels.
        """
        properties = ["enable_profiling", *(["in_order"] if in_order else [])]
        if context == "default":
            return self._keep_queue(direct_calls.RecordedQueue(self.device, property=properties))
        sycl_context = separate_context(self.device) if context == "separate" else self.queue.sycl_context
        return self._new_queue(sycl_context, self.device, properties)

    def queues_on(self, count: int, *, kind: str = "any", context: str = "shared") -> tuple[dpctl.SyclQueue, ...]:
        """A queue on each of several devices: in order, with profiling.

        Args:
            count: number of devices.
            kind: ``devices``: the session's and others of its platform; ``sub-devices`` of the session's: its stacks
                (affinity domains), or else equal parts of its compute units; ``any``: devices if there are so many,
                else sub-devices; ``engines``: compute engines of its stacks, where the driver shows several (Intel's
                ``ZEX_NUMBER_OF_CCS``); ``cpu``: the CPU as a device beside the session's GPU. Every rank of MPI gets
                the same ones in the same order: those of rank 0.
            context: ``shared``: one context for all these queues, made once per family, so that each can use arrays of
                the others; ``with device``: a shared context that also contains the session's device, so that kernels
                are built once for all of its parts; ``separate``: a new context for each queue. None of them is the
                context of ``session.queue``, which owns the problem's device arrays: copy from ``p.host``.

        Raises:
            Unsupported: there are fewer devices, and the device cannot be partitioned into so many.
        """
        key = count, kind, context == "with device"
        if key not in self._several:
            found = several_devices(self._first_device, count, kind)
            first = [self._first_device] if key[-1] else []
            comprised = [*first, *(each for each in found.devices if each not in first)]
            self._several[key] = found, dpctl.SyclContext(comprised)
        several, shared = self._several[key]
        self._ran_on[several.words] = None
        queues = []
        for number, device in enumerate(several.devices):
            sycl_context = separate_context(device) if context == "separate" else shared
            clock = 0 if several.are_parts else number + (kind == "cpu")  # 0 is that of the session's device
            queues.append(self._new_queue(sycl_context, device, ["enable_profiling", "in_order"], clock))
        return tuple(queues)

    def forget_builds(self, *, keep_binaries: bool = False) -> None:
        """Make the driver build each kernel again at its next launch; what Python compiled stays.

        A driver that keeps its builds on disk may read them there: see the pattern's ``environment``.

        Args:
            keep_binaries: it loads instead the binary that it made of each kernel before, as from a program that was
                compiled ahead of time.
        """
        self._kernels.forget_builds(keep_binaries=keep_binaries)
        if self._transcript is not None:
            self._transcript.lose("it rebuilds its kernels")

    def barrier(self, *, queue: dpctl.SyclQueue | None = None, depends: Sequence[Event] = ()) -> DeviceEvent:
        """Submit a barrier: what comes later on the queue starts after what came before."""
        began = self._clock()
        queue = queue or self.queue
        waits = self._waits.before_barrier(queue, depends) if depends else []
        with recording.unrecorded:
            event = DeviceEvent(queue.submit_barrier(waits))
        event.queue = queue
        self._recorder.add("barrier", "barrier", self._number(queue), event)
        if self._transcript is not None:
            self._transcript.submitted(event, depends, "barrier")
        self._spent_ns += self._clock() - began
        return event

    def flush(self, queue: dpctl.SyclQueue | None = None) -> None:
        """Make an OpenCL driver begin a queue's commands (``clFlush``); it may else begin when the host waits.

        Raises:
            Unsupported: the queue is not on OpenCL.
        """
        queue = queue or self.queue
        if queue.backend != dpctl.backend_type.opencl:
            raise Unsupported("needs the opencl backend: nothing else has queues to flush")
        flush(queue)
        if self._transcript is not None:
            self._transcript.lose("it flushes queues")

    @property
    def comm(self) -> Any:
        """The communicator of mpi4py with all ranks of the variant; without ``ranks=``, one of a rank that is alone."""
        return self._ranks.comm

    def mpi_buffer(self, array: UsmArray) -> Any:
        """The form of an array in USM that functions of MPI take, so that no copy to the host is needed.

        Raises:
            Unsupported: the array is in device memory, and this MPI does not support the device.
        """
        return self._ranks.buffer(array, self.device)

    @property
    def lanes(self) -> int:
        """Work-items that fill the device: compute units x hardware threads x largest sub-group (`lanes`)."""
        return device_lanes(self.device)

    def core_threads(self, sub_group_size: int) -> int:
        """Hardware threads that the work-groups on one core share (`spread.core_threads`)."""
        return core_threads(self.device, sub_group_size)

    @property
    def cores(self) -> int:
        """Cores to which work-groups go: Xe-cores of an Intel GPU that is known, or else compute units."""
        return cores(self.device)

    @property
    def sub_group_size(self) -> int:
        """The size for a kernel that must require one: 16, as mostly in the guide, if offered, else the largest."""
        return usual_sub_group_size(self.device.sub_group_sizes or ())

    def wait(self) -> None:
        """Return when every command of the sample is over.

        Raises:
            XebenchError: a host accessor is alive, for which kernels of its buffer wait.
        """
        if "_buffers" in vars(self) and self._buffers.opened:
            raise XebenchError("a host accessor is alive, for which kernels wait: leave its block before session.wait")
        self._recorder.wait()

    @functools.cached_property
    def _buffers(self) -> Buffers:
        return buffers_on(self.queue)

    def _untraced(self) -> None:
        """Take note of work that has no events."""
        if self._transcript is not None:
            self._transcript.lose("it has buffers, whose copies cannot be traced")
        if self.records_direct_calls:  # the metric is of the device's clock
            self.doubt = self.doubt or "copies of buffers have no times: use the metric wall"

    def _submitter(self, arguments: Sequence[Any]) -> Submitter:
        self._untraced()
        if any(type(value) is not Accessor and as_usm_array(value) is not None for value in arguments):
            raise XebenchError("a launch takes accessors of buffers and streams, or arrays, not both")
        return self._buffers.submit

    # ---- what a variant calls by itself -------------------------------------------------------------------------

    def launch_directly(self, kernel: Any, index_space: Any, arguments: Sequence[Any], depends: Sequence[Event]) -> Any:
        """Launch what a variant gave ``call_kernel``, on the queue of its arrays, as numba-dpex does."""
        queues = direct_calls.queues_of(*arguments)
        queue = queues[0] if queues else self.queue
        return self.launch(kernel, index_space, *arguments, depends=depends, queue=queue)

    def call_directly(self, function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Call a library function that a variant called by itself, timed as :meth:`call` does.

        A sample's call on a queue that the session does not have cannot be timed: its times are in doubt.
        """
        name = getattr(function, "__name__", "a library function")
        queues = direct_calls.queues_of(*arguments, *options.values())
        is_own = bool(queues) and queues[0] in self._queues
        with recording.unrecorded:
            if is_own:
                result = self._between_barriers(function, queues[0], arguments, options)
            else:
                result = function(*arguments, **options)
        if self._measuring and not is_own:
            for queue in queues or direct_calls.queues_of(result):
                if queue not in self._queues:
                    why = f"{name} works on a queue that is not timed"
                    self.doubt_directly(f"{why}: pass sycl_queue=session.queue, or use session.alloc", queue)
        return result

    def note_directly(
        self,
        kind: str,
        name: str,
        queue: dpctl.SyclQueue,
        event: dpctl.SyclEvent,
        copied: tuple[Any, Any, int] | None = None,
    ) -> None:
        """Record what a variant submitted to a queue by dpctl's own methods; of a copy both sides and its bytes."""
        if self._transcript is not None:
            self._transcript.lose("it submits work outside its session")
        traffic = NO_TRAFFIC if copied is None else device_memory.traffic(*copied)
        self._recorder.add(kind, name, self._number(queue), DeviceEvent(event), traffic)


def _for_dpnp(value: Any, queue: dpctl.SyclQueue) -> Any:
    """The argument of a library function that works on a queue: libraries take that of their arrays."""
    if not isinstance(value, usm_ndarray | dpnp.ndarray):
        return value
    if value.sycl_queue != queue:
        if value.sycl_queue.sycl_context != queue.sycl_context:
            raise XebenchError("the queue's context is not that of the array: use session.alloc(..., queue=queue)")
        value = value.to_device(queue)  # the same memory
    return dpnp.asarray(value)
