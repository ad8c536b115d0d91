"""What depends on another queue's command waits for it, whatever the two queues are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xebench.errors import Unsupported

pytestmark = pytest.mark.device

N = 64
#: Enough for tens of milliseconds, so that a kernel that does not wait is over long before.
LOOPS = 3_000_000


@pytest.fixture(scope="module")
def session() -> Any:
    from xebench.system.runtime import load

    load()
    from xebench.session.session import Session

    return Session.on("cpu")


@pytest.fixture(scope="module")
def kernels() -> tuple[Any, Any]:
    from xebench import kernel
    from xebench import kernel_api as kapi

    @kernel
    def store_late(item: kapi.NdItem, x, value, loops):
        i = item.get_global_id(0)
        a = np.int32(0)
        for _ in range(loops):
            a = np.int32(a * 3 + x[0])
        x[i] = value + np.int32(a == 123456)

    @kernel
    def copy_each(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        y[i] = x[i]

    return store_late, copy_each


def queues(session: Any, kind: str) -> Any:
    if kind == "sub-devices":
        return session.queues_on(2, kind="sub-devices")
    return [session.new_queue(in_order=kind == "in order") for _ in range(2)]


@pytest.mark.parametrize("how", ["kernel", "barrier", "copy"])
@pytest.mark.parametrize("kind", ["in order", "out of order", "sub-devices"])
def test_a_command_waits_for_another_queue(session: Any, kernels: Any, kind: str, how: str) -> None:
    from numba_sycl.stacks import is_current
    from xebench import kernel_api as kapi

    store_late, copy_each = kernels
    first, second = queues(session, kind)
    x, y = session.alloc(N, np.int32, queue=first), session.alloc(N, np.int32, queue=second)
    if (kind, how, first.backend.name, is_current()) == ("sub-devices", "copy", "opencl", True):
        with pytest.raises(Unsupported, match=r"^copies between sub-devices of OpenCL hang on the current stack"):
            session.copy(y, x, queue=second)
        return
    session.fill(x, np.int32(0), queue=first)
    session.fill(y, np.int32(0), queue=second)
    session.wait()
    space, back = kapi.NdRange((N,), (N,)), np.zeros(N, np.int32)
    session.launch(copy_each, space, x, y, queue=second).wait()  # builds it
    late = session.launch(store_late, space, x, np.int32(7), LOOPS, queue=first)
    if how == "kernel":
        last = session.launch(copy_each, space, x, y, depends=[late], queue=second)
    elif how == "barrier":
        barrier = session.barrier(queue=second, depends=[late])
        last = session.launch(copy_each, space, x, y, queue=second)
        assert late.times()[2] <= barrier.times()[2]
    else:
        last = session.copy(y, x, depends=[late], queue=second)
    session.copy(back, y, depends=[last], queue=second)
    session.wait()
    assert back.tolist() == [7] * N
    assert late.times()[2] <= last.times()[1]


def test_only_another_queues_events_cost_a_copy() -> None:
    from xebench.session.several_devices import Waits

    class Event:
        def __init__(self, queue: Any) -> None:
            self.queue = queue

    class Queue:
        is_in_order = True

    class OutOfOrder(Queue):
        is_in_order = False

    waits, own, free = Waits(), Queue(), OutOfOrder()
    same: Any = [Event(own)]
    assert waits.before_kernel(own, same) is same
    other: Any = [Event(free), Event(own)]
    assert waits.before_kernel(free, other) is other
    assert waits.before_kernel(own, ()) == ()
    copied: list[Any] = []

    def copy(queue: Any, depends: Any) -> str:
        copied.append((queue, depends))
        return "the copy"

    waits._copy_a_byte = copy  # type: ignore[method-assign]
    assert waits.before_kernel(own, other) == ()
    assert waits.before_barrier(free, other) == ["the copy"]
    assert copied == [(own, other), (free, other)]
