"""Buffers of SYCL and of OpenCL: data moves as accessors ask, and what cannot be is said in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench import kernel, opencl_kernel
from xebench import kernel_api as kapi
from xebench.errors import Unsupported, XebenchError

pytestmark = pytest.mark.device

N = 1000


@kernel
def advance(item: kapi.Item, data, step):
    i = item.get_id(0)
    data[i] = data[i] + step


@kernel
def transpose_row(item: kapi.Item, source, target):
    i = item.get_id(0)
    for k in range(source.shape[1]):
        target[k, i] = source[i, k]


SUM_OF_GROUP = opencl_kernel("""
__kernel void sum_of_group(__global const int *data, __global int *sums, __local int *kept) {
    int at = get_local_id(0);
    kept[at] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at == 0) {
        int sum = 0;
        for (int i = 0; i < get_local_size(0); ++i) sum += kept[i];
        sums[get_group_id(0)] = sum;
    }
}""")


@pytest.fixture(params=["sycl", "opencl"])
def session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A session with buffers of each kind, where there are such."""
    from xebench.session.session import Session
    from xebench.system.runtime import sycl_headers, sycl_shim

    made = Session.on("cpu")
    if request.param == "opencl":
        monkeypatch.setattr(sycl_headers, "compiler", lambda: None)
        sycl_shim.load.cache_clear()
    elif missing := sycl_headers.obstacle():
        pytest.skip(missing)
    yield made
    made.release()
    sycl_shim.load.cache_clear()


def launch(session: Any, buffer: Any, step: float = 1.0, mode: str = "read_write", **options: Any) -> Any:
    return session.launch(advance, kapi.Range(N), session.accessor(buffer, mode, **options), np.float32(step))


def test_kernels_and_the_host_take_turns_with_a_buffer(session: Any) -> None:
    with session.buffer(N, np.float32) as buffer:
        with session.host_accessor(buffer, "write", no_init=True) as host:
            host.array[:] = np.arange(N)
        for _ in range(3):
            launch(session, buffer, 10)
            with session.host_accessor(buffer) as host:
                host.array[::100] += 1
        with session.host_accessor(buffer, "read") as host:
            found = host.array.copy()
            assert not host.array.flags.writeable
    expected = np.arange(N) + 30
    expected[::100] += 3
    np.testing.assert_array_equal(found, expected)


def test_the_end_of_a_buffer_writes_its_host_array_and_leaves_one_that_is_read_only(session: Any) -> None:
    written, kept = np.zeros(N, np.float32), np.zeros(N, np.float32)
    kept.flags.writeable = False
    for array in (written, kept):
        with session.buffer(array) as buffer:
            launch(session, buffer)
            launch(session, buffer)
            with session.host_accessor(buffer, "read") as host:
                assert (host.array == 2).all()
    assert (written == 2).all() and (kept == 0).all()


def test_commands_are_recorded_and_timed_and_a_sample_waits_for_them(session: Any) -> None:
    session.records_direct_calls = False  # as with the metric wall
    with session.buffer(np.zeros(N, np.float32)) as buffer:
        measured = session.measure(lambda: [launch(session, buffer), launch(session, buffer)])
    assert [(event.kind, event.name) for event in measured.events] == [("kernel", "advance")] * 2
    first, second = measured.events
    assert 0 < first.start_ns <= first.end_ns <= second.start_ns <= second.end_ns
    assert measured.host_ns >= second.end_ns - first.start_ns and not measured.doubt


def test_with_a_metric_of_the_device_the_times_are_in_doubt(session: Any) -> None:
    with session.buffer(np.zeros(N, np.float32)) as buffer:
        assert "use the metric wall" in session.measure(lambda: launch(session, buffer)).doubt


def test_arguments_of_other_kinds_go_beside_accessors(session: Any) -> None:
    source = np.arange(6, dtype=np.int64).reshape(2, 3)
    turned, sums = np.zeros((3, 2), np.int64), np.zeros(4, np.int32)
    with session.buffer(source) as a, session.buffer(turned) as b:
        session.launch(transpose_row, kapi.Range(2), session.accessor(a, "read"), session.accessor(b, "write"))
    np.testing.assert_array_equal(turned, source.T)
    with session.buffer(np.arange(64, dtype=np.int32)) as a, session.buffer(sums) as b:
        accessors = session.accessor(a, "read"), session.accessor(b, "write", no_init=True)
        session.launch(SUM_OF_GROUP, kapi.NdRange((64,), (16,)), *accessors, kapi.LocalAccessor(16, np.int32))
    np.testing.assert_array_equal(sums, np.arange(64).reshape(4, 16).sum(axis=1))


def test_launches_of_arrays_and_of_accessors_do_not_disturb_one_another(session: Any) -> None:
    array = session.alloc(N, np.float32)
    with session.buffer(np.zeros(N, np.float32)) as buffer:
        for _ in range(2):
            session.fill(array, 0)
            session.launch(advance, kapi.Range(N), array, np.float32(5))
            launch(session, buffer, 7)
            out = np.empty(N, np.float32)
            session.copy(out, array)
            session.wait()
            assert (out == 5).all()
        with session.host_accessor(buffer, "read") as host:
            assert (host.array == 14).all()


def test_references_through_an_accessor_add_what_a_loop_would(session: Any) -> None:
    from xebench.session.buffers.sycl_memory import SyclBuffers

    with session.buffer(np.zeros(N, np.float32)) as buffer, session.host_accessor(buffer) as host:
        if not isinstance(buffer.buffers, SyclBuffers):
            with pytest.raises(Unsupported, match="needs "):
                host.add(1)
            return
        host.add(1, 3)
        expected = np.zeros(N, np.float32)
        expected[::3] = 1
        np.testing.assert_array_equal(host.array, expected)


def test_a_kernel_waits_for_a_host_accessor_that_is_alive(session: Any) -> None:
    with session.buffer(np.zeros(N, np.float32)) as buffer:
        with session.host_accessor(buffer) as host:
            try:
                event = launch(session, buffer)
            except Unsupported:
                return  # OpenCL has no such order
            assert not event.is_complete
            host.array[:] = 10
        event.wait()
        with session.host_accessor(buffer, "read") as host:
            assert (host.array == 11).all()


MISTAKES: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda session, buffer: session.accessor(buffer, "append"), "use one of 'read'"),
    (lambda session, buffer: session.host_accessor(buffer, "read", no_init=True), "a mode that writes"),
    (lambda session, buffer: session.buffer(0, np.float32), "at least one element"),
    (lambda session, buffer: session.buffer(np.zeros((4, 4))[:, 1]), "contiguous"),
    (
        lambda session, buffer: session.launch(
            transpose_row, kapi.Range(N), session.accessor(buffer), session.alloc(N, np.float32)
        ),
        "not both",
    ),
]


@pytest.mark.parametrize(("mistake", "told"), MISTAKES, ids=[told for _, told in MISTAKES])
def test_mistakes_are_told(session: Any, mistake: Callable[[Any, Any], Any], told: str) -> None:
    with session.buffer(np.zeros(N, np.float32)) as buffer, pytest.raises(XebenchError, match=told):
        mistake(session, buffer)


def test_a_buffer_is_of_no_use_after_its_block_and_stays_while_an_accessor_lives(session: Any) -> None:
    buffer = session.buffer(np.zeros(N, np.float32))
    with session.host_accessor(buffer, "read"), pytest.raises(XebenchError, match="leave its block"):
        buffer.free()
    buffer.free()
    with pytest.raises(XebenchError, match="freed"):
        session.accessor(buffer)


def test_waiting_for_kernels_while_a_host_accessor_lives_is_refused(session: Any) -> None:
    with session.buffer(np.zeros(N, np.float32)) as buffer:
        with session.host_accessor(buffer), pytest.raises(XebenchError, match="leave its block"):
            session.wait()
        launch(session, buffer)
        session.wait()


def test_a_traced_execution_shows_where_the_host_waits_for_buffers(session: Any) -> None:
    array = np.zeros(N, np.float32)

    def timed() -> None:
        with session.buffer(array) as buffer:
            launch(session, buffer)
            with session.host_accessor(buffer, "read"):
                pass

    session.records_direct_calls = False
    waits = [call.name for call in session.trace(timed).calls if call.kind == "wait"]
    assert [name for name in waits if "buffer" in name or "accessor" in name] == [
        "open a host accessor",
        "free a buffer",
    ]


def test_the_pinned_stack_names_the_way_to_buffers_on_level_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.errors import Unsupported
    from xebench.session.buffers import find
    from xebench.system.runtime import sycl_headers, sycl_shim

    queue: Any = SimpleNamespace(sycl_device=SimpleNamespace(backend=SimpleNamespace(name="level_zero")))
    monkeypatch.setattr(sycl_headers, "headers", lambda: None)
    sycl_shim.load.cache_clear()
    monkeypatch.setattr(find, "is_current", lambda: False)
    with pytest.raises(Unsupported, match="needs .*: run with --device opencl:gpu, or on the current stack"):
        find.buffers_on(queue)
    monkeypatch.setattr(find, "is_current", lambda: True)
    with pytest.raises(Unsupported, match="needs the headers of intel-sycl-rt 2025 or later$"):
        find.buffers_on(queue)
    sycl_shim.load.cache_clear()
