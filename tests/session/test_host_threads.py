"""Several host threads submit within one sample, each to queues of its own: nothing is lost or mixed up."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.device

THREADS, LAUNCHES, N = 4, 60, 64


@pytest.fixture(scope="module")
def session() -> Any:
    from xebench.dpex import direct_calls
    from xebench.session.session import Session

    made = Session.on("cpu")
    direct_calls.install()
    return made


@pytest.fixture(scope="module")
def set_to() -> Any:
    from xebench import kernel
    from xebench import kernel_api as kapi

    @kernel
    def set_to(item: kapi.NdItem, x, place, value):
        x[place] = value

    return set_to


@pytest.fixture(autouse=True)
def switching_often() -> Iterator[None]:
    """Threads take turns after microseconds, so that whatever can come between two steps does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[int], None]) -> None:
    """Run it with 0, 1, ... at once; what one of them raises is raised here."""
    together = threading.Barrier(THREADS)

    def begin(number: int) -> None:
        together.wait()
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(begin, number) for number in range(THREADS)]:
            done.result()


def test_every_command_is_in_its_sample_and_works_on_its_own_arguments(session: Any, set_to: Any) -> None:
    from xebench import kernel_api as kapi

    space = kapi.NdRange((1,), (1,))
    queues = [session.new_queue() for _ in range(THREADS)]
    arrays = [session.alloc(LAUNCHES, np.int32, queue=queue) for queue in queues]
    results = np.zeros((THREADS, LAUNCHES), np.int32)

    def submit(number: int) -> None:
        for place in range(LAUNCHES):
            value = np.int32(1000 * number + place)
            session.launch(set_to, space, arrays[number], place, value, queue=queues[number])
        session.copy(results[number], arrays[number], queue=queues[number])

    session.take_compilations()
    for _ in range(3):
        results[:] = -1
        measured = session.measure(lambda: in_threads(submit))
        assert np.array_equal(results, 1000 * np.arange(THREADS)[:, None] + np.arange(LAUNCHES))
        assert Counter(command.queue for command in measured.events) == dict.fromkeys(
            range(1, THREADS + 1), LAUNCHES + 1
        )
        for number in range(1, THREADS + 1):
            own = [command for command in measured.events if command.queue == number]
            assert [command.kind for command in own] == ["kernel"] * LAUNCHES + ["copy"]
            starts = [command.start_ns for command in own]
            assert starts == sorted(starts), "the commands of a thread stay in its order"
    stages = Counter(stage.stage for stage in session.take_compilations())
    assert stages["build"] == 1, "what several threads launch first is built once"


def test_queues_made_by_threads_keep_their_clocks(session: Any) -> None:
    keep, made = session.queue_count, {}

    def make(number: int) -> None:
        properties = ["enable_profiling", "in_order"]
        made[number] = session._new_queue(session.queue.sycl_context, session.device, properties, number)

    in_threads(make)
    measured = session.measure(lambda: [session.barrier(queue=made[number]) for number in range(THREADS)])
    assert [command.clock for command in measured.events] == list(range(THREADS))
    session.forget_queues(keep)


def test_a_library_call_of_one_thread_hides_nothing_of_the_others(session: Any) -> None:
    from numba_sycl import recording

    queues = [session.new_queue() for _ in range(THREADS)]
    arrays = [session.alloc(N, np.uint8, queue=queue) for queue in queues]
    zeros, first_numbers = np.zeros(N, np.uint8), session.queue_count - THREADS

    def copied(queue: Any, memory: Any) -> None:
        """As a library would, and as a variant may by itself."""
        queue.memcpy_async(memory, zeros, N)

    def submit(number: int) -> None:
        for _ in range(20):
            session.call(copied, queues[number], arrays[number].usm_data, queue=queues[number])
            copied(queues[number], arrays[number].usm_data)

    measured = session.measure(lambda: in_threads(submit))
    for number in range(first_numbers, first_numbers + THREADS):
        own = [command.kind for command in measured.events if command.queue == number]
        assert own == ["library", "copy"] * 20
    assert recording.unrecorded.depth == 0


def test_a_thread_that_outlives_its_sample_is_told(session: Any) -> None:
    x = session.alloc(N, np.int32)
    over, filled = threading.Event(), threading.Event()

    def late() -> None:
        over.wait()
        session.fill(x, np.int32(0))
        filled.set()

    class Queue:
        """In place of one that the session waits for when the sample is over."""

        def wait(self) -> None:
            over.set()
            filled.wait()

    queue = Queue()
    session._queues[queue] = session.queue_count
    try:
        late_one = session.measure(lambda: threading.Thread(target=late).start())
    finally:
        del session._queues[queue]
    assert late_one.events == [] and late_one.doubt.startswith("a thread of it submits after the sample")
    assert session.measure(lambda: None).doubt == ""
