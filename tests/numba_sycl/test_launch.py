"""Prepared launches: what they compute, what they refuse before the device sees it, what they cost."""

import ctypes
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import dpctl
import dpnp
import numpy as np
import pytest

from numba_sycl import DeviceKernel, PreparedLaunch, build, compile_kernel, kernel, separate_context
from numba_sycl import kernel_api as kapi
from numba_sycl.errors import ArgumentError, IndexSpaceError, SubmissionError, UnsupportedByDevice
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device


@kernel
def axpy(item: kapi.NdItem, a, x, y):
    i = item.get_global_id(0)
    y[i] = a * x[i] + y[i]


@kernel
def reverse(item: kapi.NdItem, x, local):
    i = item.get_local_id(0)
    local[i] = x[i]
    kapi.group_barrier(item.get_group())
    x[i] = local[local.shape[0] - 1 - i]


@kernel
def touch(item: kapi.Item, x):
    x[item.get_id(0)] = 1


N = 64
SPACE = kapi.NdRange((N,), (16,))


def arrays(queue: Any, dtype: str = "f4") -> tuple[Any, Any]:
    made = dpt.asarray(np.arange(N, dtype=dtype), sycl_queue=queue), dpt.ones(N, dtype=dtype, sycl_queue=queue)
    queue.wait()  # dpctl's functions of today do not wait, and launches on this queue may overtake them
    return made


def built(run: Any, index_space: Any, args: Any, queue: Any) -> DeviceKernel:
    return build(compile_kernel(run, index_space, args), queue)


@pytest.fixture
def axpy_args(queue: Any) -> tuple[Any, ...]:
    return (np.float32(2), *arrays(queue))


@pytest.fixture
def launch(queue: Any, axpy_args: Any) -> PreparedLaunch:
    return PreparedLaunch(built(axpy, SPACE, axpy_args, queue), queue, SPACE, axpy_args)


def test_submit_any_number_of_times(launch: PreparedLaunch, axpy_args: Any) -> None:
    event = launch.submit()
    for _ in range(4):
        event = launch.submit(depends=[event])
    event.wait()
    assert (dpt.asnumpy(axpy_args[2]) == 1 + 5 * 2 * np.arange(N)).all()


def test_other_arguments(launch: PreparedLaunch, axpy_args: Any, queue: Any) -> None:
    x, y = arrays(queue)
    first = launch.submit()
    launch.rebind((np.float32(-1), x, y))
    launch.submit().wait()
    first.wait()
    assert (dpt.asnumpy(y) == 1 - np.arange(N)).all()
    assert (dpt.asnumpy(axpy_args[2]) == 1 + 2 * np.arange(N)).all()


def test_arrays_of_dpnp_and_of_other_queues_of_the_context(launch: PreparedLaunch, queue: Any) -> None:
    other = dpctl.SyclQueue(queue.sycl_context, queue.sycl_device, property="in_order")
    y = dpnp.ones(N, dtype="f4", sycl_queue=other)
    launch.rebind((np.float32(3), arrays(other)[0], y))
    launch.submit().wait()
    assert (dpnp.asnumpy(y) == 1 + 3 * np.arange(N)).all()


def test_views_and_offsets(queue: Any) -> None:
    base = dpt.zeros(2 * N + 1, dtype="f4", sycl_queue=queue)
    odd = base[1::2]
    args = (np.float32(1), arrays(queue)[0], odd)
    PreparedLaunch(built(axpy, SPACE, args, queue), queue, SPACE, args).submit().wait()
    values = dpt.asnumpy(base)
    assert (values[1::2] == np.arange(N)).all()
    assert (values[::2] == 0).all()


def test_another_amount_of_local_memory(queue: Any) -> None:
    x = arrays(queue)[0]
    space = kapi.NdRange((N,), (N,))
    args = (x, kapi.LocalAccessor((N,), np.float32))
    launch = PreparedLaunch(built(reverse, space, args, queue), queue, space, args)
    launch.submit().wait()
    assert (dpt.asnumpy(x) == np.arange(N)[::-1]).all()
    launch.rebind((x, kapi.LocalAccessor((2 * N,), np.float32)))
    launch.submit().wait()


def test_memory_lives_until_the_kernel_has_finished(queue: Any) -> None:
    @kernel
    def slow(item: kapi.Item, x, y, n):
        total = x[0]
        for j in range(n):
            total = total * x[1] + x[j % 2]
        y[item.get_id(0)] = total

    y = dpt.zeros(1, dtype="f4", sycl_queue=queue)
    x = dpt.asarray(np.array([1, 0], dtype="f4"), sycl_queue=queue)
    args = (x, y, 5_000_000)
    launch = PreparedLaunch(built(slow, kapi.Range(1), args, queue), queue, kapi.Range(1), args)
    for _ in range(3):
        launch.rebind((dpt.asarray(np.array([1, 0], dtype="f4"), sycl_queue=queue), y, 5_000_000))
        launch.submit()
    del launch, args, x
    queue.wait()
    assert dpt.asnumpy(y)[0] in (0.0, 1.0)


# What is refused, and in which words.


def test_a_work_group_larger_than_the_device_allows(queue: Any) -> None:
    size = 2 * queue.sycl_device.max_work_group_size
    x = dpt.ones(size, dtype="f4", sycl_queue=queue)
    args = (np.float32(1), x, x)
    space = kapi.NdRange((size,), (size,))
    with pytest.raises(UnsupportedByDevice, match=rf"kernel axpy: a work-group of {size}; .* allows {size // 2}"):
        PreparedLaunch(built(axpy, space, args, queue), queue, space, args)


def test_an_extent_longer_than_the_device_allows(queue: Any) -> None:
    space = kapi.NdRange((8, 4), (8, 4))
    x = dpt.ones((4, 8), dtype="f4", sycl_queue=queue)

    @kernel
    def touch_all(item: kapi.NdItem, x):
        x[item.get_global_id(1), item.get_global_id(0)] = 1

    narrow = SimpleNamespace(name="narrow", max_work_group_size=64, max_work_item_sizes3d=(64, 64, 4))
    device_kernel = replace(built(touch_all, space, (x,), queue), device=narrow)
    with pytest.raises(UnsupportedByDevice, match=r"touch_all: work-group \(8, 4\); narrow allows \(4, 64, 64\)"):
        PreparedLaunch(device_kernel, queue, space, (x,))


def test_more_local_memory_than_the_device_has(queue: Any) -> None:
    x = arrays(queue)[0]
    space = kapi.NdRange((N,), (N,))
    fitting = (x, kapi.LocalAccessor((N,), np.float32))
    large = (x, kapi.LocalAccessor((queue.sycl_device.local_mem_size,), np.float32))
    launch = PreparedLaunch(built(reverse, space, fitting, queue), queue, space, fitting)
    with pytest.raises(UnsupportedByDevice, match="kernel reverse needs .* bytes of local memory"):
        launch.rebind(large)
    launch.submit().wait()


def test_index_spaces_that_do_not_fit(queue: Any, axpy_args: Any) -> None:
    device_kernel = built(axpy, SPACE, axpy_args, queue)
    uneven = kapi.NdRange((N,), (16,))
    field = "global_range" if is_current() else "_global_range"
    setattr(uneven, field, kapi.Range(N + 1))  # the constructor refuses it
    for space, words in (
        (kapi.Range(N), "compiled for NdItem<1>, not for Item<1>"),
        (kapi.NdRange((N, 1), (16, 1)), "not for NdItem<2>"),
        (kapi.NdRange((0,), (16,)), "not positive"),
        (uneven, "not a multiple"),
        ((N,), "tuple is no index space"),
    ):
        with pytest.raises(IndexSpaceError, match=words):
            PreparedLaunch(device_kernel, queue, space, axpy_args)


def test_a_required_work_group_size(queue: Any) -> None:
    @kernel(work_group_size=16)
    def fixed(item: kapi.NdItem, x):
        x[item.get_global_id(0)] = 1

    args = (dpt.zeros(N, dtype="f4", sycl_queue=queue),)
    device_kernel = built(fixed, SPACE, args, queue)
    PreparedLaunch(device_kernel, queue, SPACE, args).submit().wait()
    with pytest.raises(IndexSpaceError, match=r"requires work-groups of \(16,\), not \(32,\)"):
        PreparedLaunch(device_kernel, queue, kapi.NdRange((N,), (32,)), args)

    @kernel(work_group_size=16)
    def fixed_range(item: kapi.Item, x):
        x[item.get_id(0)] = 1

    with pytest.raises(IndexSpaceError, match="not a multiple of the work-group"):
        PreparedLaunch(built(fixed_range, kapi.Range(N), args, queue), queue, kapi.Range(N - 1), args)


def test_sub_groups_that_the_device_lacks(queue: Any) -> None:
    @kernel(sub_group_size=512)
    def wide(item: kapi.NdItem, x):
        x[item.get_global_id(0)] = 1

    with pytest.raises(UnsupportedByDevice, match="kernel wide requires sub-groups of 512; .* offers"):
        built(wide, SPACE, (dpt.zeros(N, dtype="f4", sycl_queue=queue),), queue)


def test_arguments_that_do_not_fit(launch: PreparedLaunch, queue: Any) -> None:
    a = np.float32(2)
    x, y = arrays(queue)
    for args, words in (
        ((a, x), "takes 3 arguments after its item, 2 given"),
        ((2.0, x, y), "argument 0 is float64; the kernel was compiled for float32"),
        ((a, arrays(queue, "i4")[0], y), r"argument 1 is int32\[:\]C; the kernel was compiled for float32\[:\]C"),
        ((a, x, dpt.reshape(y, (8, 8))), r"argument 2 is float32\[:,:\]C"),
        ((a, x[::2], y), r"argument 1 is float32\[:\]A"),
        ((a, 5, y), "argument 1 is int64"),
        ((a, np.zeros(N, dtype="f4"), y), "argument 1 is a numpy array in host memory"),
        ((a, kapi.LocalAccessor((4,), np.float32), y), "argument 1 is local float32"),
        ((None, x, y), "argument 0 is a NoneType"),
    ):
        with pytest.raises(ArgumentError, match=words):
            launch.rebind(args)
    launch.rebind((a, x, y))


def test_a_number_too_large_for_its_type(queue: Any) -> None:
    @kernel
    def fill(item: kapi.Item, x, value):
        x[item.get_id(0)] = value

    x = dpt.zeros(4, dtype="i8", sycl_queue=queue)
    launch = PreparedLaunch(built(fill, kapi.Range(4), (x, 1), queue), queue, kapi.Range(4), (x, 1))
    with pytest.raises(ArgumentError, match="does not fit"):
        launch.rebind((x, 1 << 63))


def test_memory_of_another_context(launch: PreparedLaunch, axpy_args: Any, queue: Any) -> None:
    device = queue.sycl_device
    foreign = dpctl.SyclQueue(separate_context(device), device)
    with pytest.raises(ArgumentError, match="argument 1 lives in another SYCL context"):
        launch.rebind((axpy_args[0], arrays(foreign)[0], axpy_args[2]))
    with pytest.raises(SubmissionError, match="built for another context"):
        PreparedLaunch(launch.device_kernel, foreign, SPACE, axpy_args)


def sub_devices(queue: Any, partition: Any) -> Any:
    try:
        return queue.sycl_device.create_sub_devices(partition=partition)
    except dpctl.SyclSubDeviceCreationError as error:
        pytest.skip(f"no sub-devices here: {error}")


def test_sub_devices(queue: Any) -> None:
    device = sub_devices(queue, 1)[0]
    part = dpctl.SyclQueue(device, property="enable_profiling")
    args = (dpt.zeros(N, dtype="f4", sycl_queue=part),)
    event = PreparedLaunch(built(touch, kapi.Range(N), args, part), part, kapi.Range(N), args).submit()
    assert event.times()[2] > 0
    assert (dpt.asnumpy(args[0]) == 1).all()


def median_ns(action: Callable[[], object], rounds: int = 300) -> float:
    samples = []
    for _ in range(rounds):
        started = time.perf_counter_ns()
        action()
        samples.append(time.perf_counter_ns() - started)
    return statistics.median(samples)


@pytest.mark.numba_dpex
def test_a_prepared_launch_is_cheap(queue: Any) -> None:
    from xebench.dpex import load_numba_dpex

    # Ratios of interleaved medians, not times, and twice as generous as what is claimed.
    @kernel
    def empty(item: kapi.NdItem, x, y, z):
        item.get_global_id(0)

    space = kapi.NdRange((16,), (16,))
    args = tuple(dpt.ones(16, dtype="f4", sycl_queue=queue) for _ in range(3))
    device_kernel = built(empty, space, args, queue)
    launch = PreparedLaunch(device_kernel, queue, space, args)
    n, itemsize = ctypes.c_int64(16), ctypes.c_int64(4)
    flat = [part for x in args for part in (n, itemsize, x.usm_data, n, itemsize)]

    def prepared() -> None:
        launch.submit().wait()

    def by_dpctl() -> None:
        queue.submit(device_kernel.kernel, flat, [16], [16]).wait()

    def by_numba_dpex() -> None:
        load_numba_dpex().call_kernel(empty, space, *args)

    actions = (prepared, by_dpctl, by_numba_dpex)
    for action in actions:
        action()
    medians = [[median_ns(action, 100) for action in actions] for _ in range(5)]
    ours, dpctls, numbas = (statistics.median(column) for column in zip(*medians, strict=True))
    assert ours < 3 * dpctls
    assert 2.5 * ours < numbas
