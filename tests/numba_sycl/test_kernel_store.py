"""What is kept between launches: for threads, bounded, without arrays."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.device


def test_a_launch_amid_another_one_has_arguments_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when another thread, or the end of an object, launches the same kernel between two steps of a launch."""
    import dpctl

    from numba_sycl import PreparedLaunch, kernel
    from numba_sycl import kernel_api as kapi
    from numba_sycl.kernel_store import KernelStore
    from numba_sycl.tensor import tensor as dpt

    @kernel
    def add(item: kapi.Item, y, by):
        y[item.get_id(0)] += by

    store, queue = KernelStore(), dpctl.SyclQueue()
    one, other = (dpt.zeros(8, dtype="i8", sycl_queue=queue) for _ in range(2))
    store.submit(add, queue, kapi.Range(8), (one, 1)).wait()
    amid, submit = [10, 100], PreparedLaunch.submit

    def interrupted(launch: PreparedLaunch, *depends: Any) -> Any:
        if amid:
            store.submit(add, queue, kapi.Range(8), (other, amid.pop())).wait()
        return submit(launch, *depends)

    monkeypatch.setattr(PreparedLaunch, "submit", interrupted)
    for by in (2, 4):
        store.submit(add, queue, kapi.Range(8), (one, by)).wait()
    assert dpt.asnumpy(one).tolist() == [7] * 8
    assert dpt.asnumpy(other).tolist() == [110] * 8


def test_threads_share_a_kernel() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from numba_sycl import call_kernel, kernel
    from numba_sycl import kernel_api as kapi
    from numba_sycl.tensor import tensor as dpt

    @kernel
    def add(item: kapi.Item, y, by):
        y[item.get_id(0)] += by

    def added(by: int) -> list[int]:
        y = dpt.zeros(8, dtype="i8")
        for _ in range(200):
            call_kernel(add, kapi.Range(8), y, by)
        found: list[int] = dpt.asnumpy(y).tolist()
        return found

    with ThreadPoolExecutor(6) as threads:
        assert [*threads.map(added, range(6))] == [[200 * by] * 8 for by in range(6)]


def test_what_is_kept_is_bounded_and_holds_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    import gc
    import weakref

    import dpctl

    from numba_sycl import kernel, kernel_store
    from numba_sycl import kernel_api as kapi
    from numba_sycl.kernel_store import KernelStore
    from numba_sycl.tensor import tensor as dpt

    def adding(number: int) -> Any:
        @kernel
        def add(item: kapi.Item, y, by):
            y[item.get_id(0)] += by + number

        return add

    monkeypatch.setattr(kernel_store, "MOST_KEPT", 4)
    store, queue = KernelStore(), dpctl.SyclQueue()
    for size in range(1, 12):
        y = dpt.zeros(size, dtype="i4" if size % 2 else "i8", sycl_queue=queue)
        held = weakref.ref(y)
        store.submit(adding(size), queue, kapi.Range(size), (y, 1)).wait()
        del y
        gc.collect()
        assert held() is None
    assert len(store._places) == 4
    assert len(store._built) <= 4


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The launches that stores prepare."""
    from numba_sycl import PreparedLaunch, kernel_store

    made = []

    class Counted(PreparedLaunch):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(kernel_store, "PreparedLaunch", Counted)
    return made


def test_a_launch_is_prepared_once_for_all_queues_of_a_context_and_all_sizes(prepared: list[Any]) -> None:
    import dpctl

    from numba_sycl import kernel
    from numba_sycl import kernel_api as kapi
    from numba_sycl.kernel_store import KernelStore
    from numba_sycl.tensor import tensor as dpt

    @kernel
    def add(item: kapi.NdItem, y, by):
        y[item.get_global_id(0)] += by

    store, device = KernelStore(), dpctl.select_default_device()
    for size in range(1, 9):
        queue = dpctl.SyclQueue(device)
        y = dpt.zeros(16, dtype="i4", sycl_queue=queue)
        queue.wait()
        store.submit(add, queue, kapi.NdRange((2 * size,), (size,)), (y, size)).wait()
        assert dpt.asnumpy(y).tolist() == [size] * 2 * size + [0] * (16 - 2 * size)
    assert len(prepared) == 1
    separate = dpctl.SyclQueue(dpctl.SyclContext([device]), device)
    store.submit(add, separate, kapi.NdRange((4,), (2,)), (dpt.zeros(16, dtype="i4", sycl_queue=separate), 1)).wait()
    assert len(prepared) == 2


def test_what_was_used_least_recently_is_forgotten(prepared: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import dpctl

    from numba_sycl import kernel, kernel_store
    from numba_sycl import kernel_api as kapi
    from numba_sycl.kernel_store import KernelStore
    from numba_sycl.tensor import tensor as dpt

    def adding(number: int) -> Any:
        @kernel
        def add(item: kapi.Item, y):
            y[item.get_id(0)] += number

        return add

    monkeypatch.setattr(kernel_store, "MOST_KEPT", 4)
    store, queue, first = KernelStore(), dpctl.SyclQueue(), adding(0)
    y = dpt.zeros(4, dtype="i4", sycl_queue=queue)
    for number in range(1, 9):
        for kernel_of_two in (first, adding(number)):
            store.submit(kernel_of_two, queue, kapi.Range(4), (y,)).wait()
    assert len(prepared) == 9


def test_both_widths_are_compared_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    import dpctl

    from numba_sycl import compile_kernel, errors, kernel, kernel_store
    from numba_sycl import kernel_api as kapi
    from numba_sycl.kernel_store import KernelStore
    from numba_sycl.tensor import tensor as dpt

    def adding(number: int) -> Any:
        @kernel
        def add(item: kapi.Item, y, x):
            y[item.get_id(0)] += x[item.get_id(0)] + number

        return add

    monkeypatch.setenv("NUMBA_SYCL_NARROW", "check")
    queue, space = dpctl.SyclQueue(), kapi.Range(8)
    both = dpt.zeros(16, dtype="i8", sycl_queue=queue)
    arguments = both[:8], both[::-1][:8]
    store = KernelStore()
    for _ in range(2):
        store.submit(adding(1), queue, space, arguments).wait()
    assert [place.idle[-1].device_kernel.compiled.bounded for place in store._places.values()] == [True] * 2
    assert dpt.asnumpy(both).tolist() == [2] * 8 + [0] * 8

    right, wrong = (compile_kernel(adding(number), space, arguments) for number in (1, 2))
    monkeypatch.setattr(kernel_store, "compile_for", lambda *_: replace(right, narrow=wrong.narrow))
    with pytest.raises(errors.WidthsDiffer, match="kernel add: .* other bytes in argument 0"):
        store.submit(adding(1), queue, space, arguments)
