"""The session's bookkeeping, with a fake queue, fake kernels and a fake clock; and its commands on a real device."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench.errors import XebenchError

pytestmark = pytest.mark.device  # importing the session loads dpctl


class Clock:
    """Host time that passes only while something waits or works."""

    def __init__(self) -> None:
        self.now = 1000

    def __call__(self) -> int:
        return self.now


class Event:
    """A command that takes a second of device time, and of host time to wait for."""

    def __init__(self, clock: Clock, start: int) -> None:
        self.clock = clock
        self.start = start
        self.waits = 0

    def wait(self) -> None:
        self.waits += 1
        self.clock.now += 1000

    def times(self) -> tuple[int, int, int]:
        assert self.waits, "profiling times were read before the command was over"
        return self.start - 5, self.start, self.start + 700


class Kernels:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.events: list[Event] = []
        self.queues: list[Any] = []
        self.build_ns = 0

    def submit(self, kernel: Any, queue: Any, index_space: Any, arguments: Any, *_: Any) -> Event:
        self.queues.append(queue)
        self.clock.now += 10  # submission itself
        self.events.append(Event(self.clock, 10_000 * (len(self.events) + 1)))
        return self.events[-1]


class Queue:
    sycl_device = "a device"
    has_enable_profiling = True

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.busy_ns = 0

    def wait(self) -> None:
        self.clock.now += self.busy_ns


class Kernel:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function


@Kernel
def triad() -> None: ...


def make() -> tuple[Any, Kernels]:
    from xebench.session.session import Session

    clock = Clock()
    kernels = Kernels(clock)
    stand_in: Any = kernels
    return Session(Queue(clock), stand_in, clock=clock), kernels


def test_a_sample_lasts_until_everything_is_over() -> None:
    session, kernels = make()
    measured = session.measure(lambda: [session.launch(triad, None), session.launch(triad, None)])
    assert measured.host_ns == 2 * 10 + 2 * 1000, "submission alone must not be taken for execution"
    assert [event.waits for event in kernels.events] == [1, 1]
    assert [(c.kind, c.name, c.start_ns, c.end_ns) for c in measured.events] == [
        ("kernel", "triad", 10_000, 10_700),
        ("kernel", "triad", 20_000, 20_700),
    ]


def test_samples_do_not_share_commands() -> None:
    session, _ = make()
    session.measure(lambda: session.launch(triad, None))
    assert len(session.measure(lambda: session.launch(triad, None)).events) == 1
    nothing = session.measure(lambda: None)
    assert (nothing.host_ns, nothing.events) == (0, [])


def test_executions_of_a_batch_are_timed_together_and_do_not_overlap() -> None:
    session, kernels = make()
    over: list[list[int]] = []

    def timed() -> None:
        over.append([event.waits for event in kernels.events])
        session.launch(triad, None)

    measured = session.measure(timed, batch=3)
    assert measured.host_ns == 3 * (10 + 1000)
    assert [len(execution) for execution in measured.executions] == [1, 1, 1]
    assert over == [[], [1], [1, 1]], "an execution began before the one before was over"


def test_work_that_was_not_recorded_shows_as_a_late_queue() -> None:
    session, _ = make()
    other = Queue(session.queue.clock)
    session.launch(triad, None, queue=other)
    other.busy_ns = 700
    measured = session.measure(lambda: session.launch(triad, None))
    assert measured.host_ns == 1010, "the wait for it is not part of the sample"
    assert measured.late_ns == 700


def ignore(*event: object) -> None: ...


def test_queues_are_numbered_in_the_order_of_their_use() -> None:
    session, kernels = make()
    other = Queue()

    def two_queues() -> None:
        session.launch(triad, None)
        session.launch(triad, None, queue=other)

    assert [c.queue for c in session.measure(two_queues).events] == [0, 1]
    assert kernels.queues == [session.queue, other]


def test_two_objects_of_one_queue_have_its_number() -> None:
    import dpctl

    from xebench.session.session import Session

    session = Session.on("cpu")
    queues = [session.queue, *(session.new_queue() for _ in range(3))]
    queues += [dpctl.SyclQueue(queue._get_capsule()) for queue in queues]
    measured = session.measure(lambda: [session.barrier(queue=queue) for queue in queues])
    assert [command.queue for command in measured.events] == [0, 1, 2, 3] * 2
    session.forget_queues(1)
    measured = session.measure(lambda: session.barrier(queue=session.new_queue()))
    assert [command.queue for command in measured.events] == [1]


def test_copies_fills_barriers_and_library_calls_are_recorded_on_a_device() -> None:
    import dpnp

    from xebench.session.session import Session

    session = Session.on("cpu")
    array = session.alloc(1000, np.int32)
    back = np.zeros(1000, np.int32)

    def everything() -> None:
        session.fill(array, 3)
        session.copy(array[:10], np.full(10, 5, np.int32))
        session.barrier()
        total = session.call(dpnp.sum, array)
        session.copy(back, array)
        session.wait()
        assert int(total) == 3 * 990 + 5 * 10

    measured = session.measure(everything)
    commands = measured.events
    assert [c.kind for c in commands] == ["fill", "copy", "barrier", "library", "copy"]
    assert all(c.start_ns <= c.end_ns for c in commands)
    assert sum(c.end_ns - c.start_ns for c in commands) <= measured.host_ns
    assert back.tolist() == [5] * 10 + [3] * 990


def test_a_library_call_works_on_the_queue_that_it_is_given_and_on_the_same_memory() -> None:
    import dpnp

    from xebench.session.session import Session

    session = Session.on("cpu")
    array, total = session.alloc(1000, np.int32), session.alloc((), np.int32)
    other = session.new_queue()

    def on_other_queue() -> None:
        session.fill(array, 3)
        session.wait()
        result = session.call(dpnp.sum, array, dtype=np.int32, out=total, queue=other)
        assert result.sycl_queue == other

    assert [(c.kind, c.queue) for c in session.measure(on_other_queue).events] == [("fill", 0), ("library", 1)]
    assert int(total) == 3000, "the result is in the array that was given, though that was made for another queue"
    separate = session.new_queue(context="separate")
    with pytest.raises(XebenchError, match="context is not that of the array"):
        session.call(dpnp.sum, array, queue=separate)


def test_separate_contexts_are_separate_and_shared_ones_shared() -> None:
    import dpctl

    from xebench.session.session import Session

    session = Session.on("cpu")
    assert session.new_queue().sycl_context == session.queue.sycl_context
    first, second = session.new_queue(context="separate"), session.new_queue(context="separate")
    assert first.sycl_context != session.queue.sycl_context
    assert session.new_queue(context="default").sycl_context == dpctl.SyclQueue("cpu").sycl_context
    assert first.sycl_context != second.sycl_context
    assert not session.new_queue(in_order=False).is_in_order
    assert session.queue.is_in_order and session.queue.has_enable_profiling


def test_queues_are_dropped_with_their_family_but_not_the_out_of_order_ones_which_would_take_a_thread_along() -> None:
    from xebench.session.session import Session

    session = Session.on("cpu")
    queues = [weakref.ref(session.new_queue(in_order=in_order)) for in_order in (True, False)]
    session.release()
    assert session.queue_count == 1
    assert [queue() is None for queue in queues] == [True, False]


def test_an_unequal_copy_is_refused() -> None:
    from xebench.session.session import Session

    session = Session.on("cpu")
    array = session.alloc(8, np.int32)
    with pytest.raises(ValueError, match="destination has 32 bytes, the source 16"):
        session.copy(array, np.zeros(4, np.int32))
    with pytest.raises(ValueError, match="not contiguous"):
        session.copy(array, np.zeros(16, np.int32)[::2])


def test_a_copy_keeps_a_temporary_alive_until_it_is_over() -> None:
    """A temporary that nobody else holds must not be freed while the device still reads it."""
    import weakref

    from xebench.session.session import Session

    class Tracked(np.ndarray):
        """An array that can be watched: plain ones take no weak references."""

    session = Session.on("cpu")
    array = session.alloc(1 << 20, np.int32)
    back = np.zeros(1 << 20, np.int32)

    def copies() -> None:
        source = np.arange(1 << 20, dtype=np.int32)
        event = session.copy(array, source)
        del source
        assert event._keep is not None
        session.copy(back, array)

    watched = np.arange(8, dtype=np.int32).view(Tracked)
    event = session.copy(session.alloc(8, np.int32), watched)
    reference = weakref.ref(watched)
    del watched
    gc.collect()
    assert reference() is not None
    event.wait()
    session.begin()
    assert reference() is None
    session.measure(copies)
    assert back[-1] == (1 << 20) - 1


def call_that_raises(error: Exception) -> None:
    from xebench.session.session import Session

    def library(array: Any) -> None:
        raise error

    session = Session.on("cpu")
    session.call(library, session.alloc(1, np.int32))


@pytest.mark.parametrize(
    "words",
    [
        "Native API failed. Native API returns: -42 (PI_ERROR_INVALID_BINARY)",
        "Unexpected SYCL exception caught during gemm() call: OpenCL error -11",
        "oneMKL: unsupported device",
        "Required aspect fpga is not supported on the device",
    ],
)
def test_a_library_without_code_for_the_device_is_a_reason_to_skip(words: str) -> None:
    from xebench.errors import Unsupported

    with pytest.raises(Unsupported) as caught:
        call_that_raises(RuntimeError(f"{words}\nand more"))
    assert str(caught.value) == f"library does not run on this device: {words}"


def test_memory_that_runs_out_in_a_library_is_a_reason_to_refuse() -> None:
    from xebench.errors import TooLarge

    with pytest.raises(TooLarge, match="library does not run on this device"):
        call_that_raises(RuntimeError("UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"))


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("shapes (3,) and (4,) do not match"),
        NotImplementedError("Requested function=take with out= is not implemented"),
        RuntimeError("Native API failed. Native API returns: -30 (PI_ERROR_INVALID_VALUE)"),
        RuntimeError("Required aspect cpu is not supported on the device"),  # the device has it
    ],
)
def test_a_librarys_other_errors_stay_what_they_are(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        call_that_raises(error)
    assert caught.value is error


def test_a_copy_by_a_queues_own_method_has_bytes_and_a_route_too() -> None:
    import dpctl.memory

    from xebench.session.session import Session

    session = Session.on("cpu")
    shared = dpctl.memory.MemoryUSMShared(32, queue=session.queue)
    device = session.alloc(8, np.float32)
    host = np.zeros(32, np.uint8)

    def sample() -> None:
        session.queue.memcpy_async(device.usm_data, host, 32)
        session.queue.memcpy(shared, device.usm_data, 16)
        session.queue.memcpy_async(bytearray(8), shared, 8)

    found = [(command.bytes, command.route) for command in session.measure(sample).events]
    assert found == [(32, "pageable_to_device"), (16, "device_to_shared"), (8, "shared_to_pageable")]


def test_memory_of_numpy_is_imported_on_level_zero_alone() -> None:
    from xebench.errors import Unsupported
    from xebench.session.session import Session

    session = Session.on("cpu")
    with pytest.raises(Unsupported, match="needs the level_zero backend"):
        session.import_memory(np.zeros(4096, np.int32))
    with pytest.raises(TypeError, match="contiguous"):
        session.import_memory(np.zeros((64, 64), np.int32)[:, ::2])


def test_a_queue_is_flushed_on_opencl_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.errors import Unsupported
    from xebench.session.session import Session

    session = Session.on("opencl:cpu")
    array, host = session.alloc(4096, np.int32), np.arange(4096, dtype=np.int32)
    other = session.new_queue(in_order=False)
    for _ in range(100):  # a reference to the queue that is not given back, or is twice, would show
        session.copy(array, host)
        session.flush()
        session.flush(other)
    session.copy(host, array).wait()
    assert host.tolist() == list(range(4096))
    with session.transcribing() as transcript:
        session.flush()
    assert transcript.lost == "it flushes queues"
    monkeypatch.setattr(session, "queue", SimpleNamespace(backend="level_zero"))
    with pytest.raises(Unsupported, match="needs the opencl backend"):
        session.flush()


def test_a_kernel_with_a_sub_group_size_by_name_takes_that_of_the_variant() -> None:
    from numba_sycl import kernel, kernel_api, sub_group
    from numba_sycl.errors import OptionError
    from numba_sycl.tensor import tensor
    from xebench.measuring.place import start
    from xebench.session.session import Session

    @kernel(sub_group_size="lanes")
    def size_of_each(item: kernel_api.NdItem, x):
        x[item.get_global_id(0)] = sub_group.size()

    def variant(session: Any, x: Any) -> None:
        session.launch(size_of_each, kernel_api.NdRange((64,), (64,)), x).wait()

    session = Session.on("cpu")
    x = session.alloc(64, np.int32)
    for lanes in (8, 16, 8):
        start(variant, session, x, {"n": 64, "lanes": lanes})
        assert tensor.asnumpy(x).tolist() == [lanes] * 64
    with pytest.raises(OptionError, match=r"^kernel size_of_each: sub_group_size='lanes' is no parameter .* are n\)"):
        start(variant, session, x, {"n": 64})
