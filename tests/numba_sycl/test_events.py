"""Events: times, completion, dependencies either way, and a lifetime that outlasts the Python object."""

import gc
import subprocess
import sys
import weakref
from typing import Any

import dpctl
import dpnp
import numpy as np
import pytest

from numba_sycl import (
    CommandRefused,
    DeviceEvent,
    PreparedLaunch,
    ProfilingUnavailable,
    build,
    compile_kernel,
    events,
    kernel,
    native_handles,
)
from numba_sycl import kernel_api as kapi
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device


@kernel
def spin(item: kapi.Item, x, y, n):
    total = x[0]
    for j in range(n):
        total = total * x[1] + x[j % 2]
    y[item.get_id(0)] += total * x[1] + 1


LONG = 20_000_000


def spinning(queue: Any, n: int) -> tuple[PreparedLaunch, Any]:
    x = dpt.asarray(np.array([1, 0], dtype="f4"), sycl_queue=queue)
    y = dpt.zeros(1, dtype="f4", sycl_queue=queue)
    args = (x, y, n)
    return PreparedLaunch(build(compile_kernel(spin, kapi.Range(1), args), queue), queue, kapi.Range(1), args), y


def test_times_are_ordered_and_new(queue: Any) -> None:
    launch, _ = spinning(queue, 1000)
    first, second = launch.submit().times(), launch.submit().times()
    for submit_ns, start_ns, end_ns in (first, second):
        assert 0 < submit_ns <= start_ns < end_ns
    assert second[1] >= first[2]


def test_times_need_a_profiling_queue(queue: Any) -> None:
    plain = dpctl.SyclQueue(queue.sycl_context, queue.sycl_device)
    launch, _ = spinning(plain, 1)
    with pytest.raises(ProfilingUnavailable, match="enable_profiling"):
        launch.submit().times()


def test_a_driver_that_gives_no_times_is_named(queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    event = DeviceEvent(queue.submit_barrier())
    event.queue = queue
    event.wait()
    monkeypatch.setattr(native_handles, "event_end_ns", lambda _reference: 0)
    with pytest.raises(ProfilingUnavailable, match="gives no times of commands") as caught:
        event.times()
    assert queue.sycl_device.name.strip() in str(caught.value) and "\n" not in str(caught.value)


def test_a_command_that_the_driver_gave_up_is_refused_and_not_done(queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    event = DeviceEvent(queue.submit_barrier())
    event.queue = queue
    monkeypatch.setattr(native_handles, "event_status", lambda _reference: native_handles.STATUS_UNKNOWN)
    for ask in (event.wait, event.times):
        with pytest.raises(CommandRefused, match="gave a command up") as caught:
            ask()
    assert queue.sycl_device.name.strip() in str(caught.value) and "\n" not in str(caught.value)
    assert not event.is_complete


def test_completion(queue: Any) -> None:
    launch, y = spinning(queue, LONG)
    event = launch.submit()
    early = event.is_complete
    event.wait()
    assert (early, event.is_complete) == (False, True)
    assert dpt.asnumpy(y)[0] == 1


def test_dependencies_of_both_kinds(queue: Any) -> None:
    launch, y = spinning(queue, LONG)
    result = np.zeros(1, dtype="f4")
    copied = queue.memcpy_async(result.view("u1"), y.usm_data, 4, dEvents=[launch.submit().sycl_event])
    again = launch.submit(depends=[copied])
    last = launch.submit(depends=[again, copied, DeviceEvent(copied)])
    last.wait()
    assert result[0] == 1
    assert dpt.asnumpy(y)[0] == 3
    assert DeviceEvent(copied).times()[2] <= again.times()[1]
    assert again.times()[2] <= last.times()[1]


def test_a_sycl_event_and_its_device_event_are_one(queue: Any) -> None:
    launch, _ = spinning(queue, 1000)
    event = launch.submit()
    times = event.times()
    as_sycl = event.sycl_event
    del event
    gc.collect()
    as_sycl.wait()
    assert (as_sycl.profiling_info_submit, as_sycl.profiling_info_start, as_sycl.profiling_info_end) == times
    assert DeviceEvent(as_sycl).times() == times


def test_arguments_are_released_after_completion(queue: Any) -> None:
    launch, y = spinning(queue, 1000)
    x = dpnp.asarray(np.array([1, 0], dtype="f4"), sycl_queue=queue)
    watched = weakref.ref(x.get_array())  # dpnp's own arrays of today cannot be watched
    event = launch.submit()
    launch.rebind((x, y, 1000))
    during = launch.submit()
    launch.rebind((dpt.zeros(2, dtype="f4", sycl_queue=queue), y, 1))
    del x
    assert watched() is not None
    event.wait()
    during.wait()
    assert watched() is None


def test_dropped_events_keep_their_memory_until_the_end(queue: Any) -> None:
    launch, y = spinning(queue, LONG)
    x = dpnp.asarray(np.array([1, 0], dtype="f4"), sycl_queue=queue)
    watched = weakref.ref(x.get_array())  # dpnp's own arrays of today cannot be watched
    launch.rebind((x, y, LONG))
    launch.submit()
    del launch, x
    gc.collect()
    assert watched() is not None
    queue.wait()
    events._release_finished()
    assert watched() is None


def test_many_dropped_events_stay_cheap(queue: Any) -> None:
    launch, y = spinning(queue, 1)
    blocker, _ = spinning(queue, LONG)
    first = blocker.submit()
    count = 500
    for _ in range(count):
        first = launch.submit(depends=[first])
    queue.wait()
    assert dpt.asnumpy(y)[0] == count
    assert len(events._orphans) <= 2 * count


@pytest.mark.numba_dpex
def test_a_process_that_drops_running_kernels_ends_well() -> None:
    program = (
        "import xebench.dpex as dpex, dpctl.tensor as dpt\n"
        "from numba_dpex import kernel_api as kapi\n"
        "@dpex.kernel\n"
        "def spin(item: kapi.Item, x, n):\n"
        "    for j in range(n):\n"
        "        x[0] = x[0] * x[1] + j\n"
        "args = (dpt.ones(2, dtype='f4'), 30_000_000)\n"
        "queue = args[0].sycl_queue\n"
        "built = dpex.build(dpex.compile_kernel(spin, kapi.Range(1), args), queue)\n"
        "dpex.PreparedLaunch(built, queue, kapi.Range(1), args).submit()\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
