"""An execution whose host calls are timed, on a clock that a reading sets forward: order is all that is looked at."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.device

#: A reading sets the clock forward so far; the shortest line that is kept is as long.
STEP_NS = 1000


@pytest.fixture
def traced() -> Any:
    """A session whose host's clock only readings move."""
    from xebench.session.session import Session
    from xebench.session.session_kernels import SessionKernels

    queue = Session.on("cpu").queue
    return Session(queue, SessionKernels(), clock=itertools.count(10**6, STEP_NS).__next__)


def of_kind(measured: Any, kind: str) -> list[Any]:
    return [call for call in measured.calls if call.kind == kind]


def begin_of(call: Any) -> int:
    return int(call.submit_began_host_ns)


def encloses(outer: Any, inner: Any) -> bool:
    return bool(
        outer.submit_began_host_ns < inner.submit_began_host_ns
        and inner.submit_ended_host_ns < outer.submit_ended_host_ns
    )


def launching(session: Any) -> Callable[[], Any]:
    from xebench.measuring.instrument import empty_launch

    kernel, space, array = empty_launch(session)
    return lambda: session.launch(kernel, space, array)


def test_every_call_of_the_host_is_there_within_the_line_that_makes_it(traced: Any) -> None:
    launch = launching(traced)
    host = np.zeros(64, np.float32)

    def execution() -> None:
        array = traced.alloc(64, np.float32)
        traced.new_queue()
        copied = traced.copy(array, host)
        traced.forget_builds()
        launch()
        copied.wait()
        np.sort(host)

    measured = traced.trace(execution)
    (whole,) = of_kind(measured, "execution")
    assert whole.submit_began_host_ns == measured.begin_ns
    assert whole.submit_ended_host_ns == measured.begin_ns + measured.host_ns
    assert all(encloses(whole, call) for call in measured.calls if call is not whole)
    (allocation,), (queue,), (build,) = (of_kind(measured, kind) for kind in ("allocation", "queue", "build"))
    assert allocation.name == "allocate 256 bytes of device memory" and build.name == "build _nothing"
    *of_library, for_copy, for_all = of_kind(measured, "wait")
    assert {call.name for call in of_library} <= {"wait for a queue"}  # dpnp of today waits as it allocates
    assert (for_copy.name, for_all.name) == ("wait for memcpy", "wait for all commands")
    assert sorted([allocation, queue, build, for_copy, for_all], key=begin_of) == [
        allocation,
        queue,
        build,
        for_copy,
        for_all,
    ]


def test_a_command_has_its_submission_and_when_the_host_had_waited_for_it(traced: Any) -> None:
    launch = launching(traced)
    host = np.zeros(64, np.float32)
    array = traced.alloc(64, np.float32)
    measured = traced.trace(lambda: (traced.copy(array, host), launch(), traced.queue.submit_barrier()))
    assert [event.kind for event in measured.events] == ["copy", "kernel", "barrier"]
    moments = [
        (event.submit_began_host_ns, event.submit_ended_host_ns, event.over_host_ns, event.thread)
        for event in measured.events
    ]
    for began, ended, over, thread in moments:
        assert began < ended < over and thread == 0
    assert moments == sorted(moments)
    assert moments[-1][1] < moments[0][2], "it waits for all when all are submitted"


def test_threads_have_numbers_of_their_own(traced: Any) -> None:
    launch = launching(traced)

    def execution() -> None:
        def beside() -> None:
            launch()

        other = threading.Thread(target=beside)
        other.start()
        other.join()
        launch()

    measured = traced.trace(execution)
    assert [event.thread for event in measured.events] == [1, 0]


def test_samples_run_what_they_ran_before_also_when_a_traced_execution_fails(traced: Any) -> None:
    from xebench.session.session import Session

    before = dict(vars(Session))
    launch = launching(traced)

    def fails() -> None:
        launch()
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        traced.trace(fails)
    assert dict(vars(Session)) == before
    measured = traced.measure(launch)
    assert not measured.calls
    (event,) = measured.events
    assert (event.submit_began_host_ns, event.submit_ended_host_ns, event.over_host_ns, event.thread) == (None,) * 4


def test_a_library_call_has_the_times_of_the_call(traced: Any) -> None:
    array = traced.alloc(64, np.float32)
    measured = traced.trace(lambda: traced.call(np.shape, array))
    (event,) = measured.events
    assert event.kind == "library" and event.submit_began_host_ns < event.submit_ended_host_ns
