"""Kernels of a session: found again by what they are launched with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numba_sycl.stacks import is_current
from xebench.errors import Unsupported

pytestmark = pytest.mark.device


@pytest.fixture
def session() -> Any:
    from xebench.session.session import Session

    return Session.on("cpu")


def shift_kernel() -> Any:
    from xebench import kernel
    from xebench import kernel_api as kapi

    @kernel
    def shift(item: kapi.NdItem, x, y, by):
        i = item.get_global_id(0)
        y[i] = x[i] + by

    return shift


def space(n: int = 64) -> Any:
    from xebench import kernel_api as kapi

    return kapi.NdRange((n,), (n,))


def upload(session: Any, array: np.ndarray) -> Any:
    from xebench.session.device_memory import DeviceMemory

    return DeviceMemory(session.queue).upload(array)


def shifted(session: Any, kernel: Any, x: Any, by: Any) -> np.ndarray:
    from xebench.session.device_memory import DeviceMemory

    y = upload(session, np.zeros(64, x.dtype))
    session.launch(kernel, space(), x, y, by)
    session.wait()
    return DeviceMemory(session.queue).read(y)


def stages(session: Any) -> list[str]:
    return [compilation.stage for compilation in session.take_compilations()]


def test_a_launch_of_the_same_types_is_prepared_once_and_takes_new_values(session: Any) -> None:
    kernel = shift_kernel()
    first, second = (upload(session, np.full(64, value, np.int32)) for value in (1, 5))
    assert shifted(session, kernel, first, np.int32(2)).tolist() == [3] * 64
    assert "build" in stages(session)
    assert shifted(session, kernel, second, np.int32(4)).tolist() == [9] * 64
    assert stages(session) == []


def test_other_types_are_another_kernel_and_both_are_kept(session: Any) -> None:
    kernel = shift_kernel()
    whole, real = upload(session, np.ones(64, np.int32)), upload(session, np.ones(64, np.float32))
    for x, by in ((whole, np.int32(1)), (real, np.float32(0.5))):
        shifted(session, kernel, x, by)
        assert "build" in stages(session)
    for _ in range(2):
        assert shifted(session, kernel, whole, np.int32(1)).tolist() == [2] * 64
        assert shifted(session, kernel, real, np.float32(0.5)).tolist() == [1.5] * 64
    assert stages(session) == []


def test_which_kernel_runs_does_not_depend_on_what_was_launched_before(session: Any) -> None:
    kernel = shift_kernel()
    strided, plain = upload(session, np.arange(128, dtype=np.int32)), upload(session, np.arange(64, dtype=np.int32))
    assert shifted(session, kernel, strided[::2], np.int32(0)).tolist() == list(range(0, 128, 2))
    session.take_kernels()
    stages(session)
    # code for strides would take a contiguous array as well
    assert shifted(session, kernel, plain, np.int32(0)).tolist() == list(range(64))
    assert "build" in stages(session)
    assert shifted(session, kernel, strided[::2], np.int32(0)).tolist() == list(range(0, 128, 2))
    assert stages(session) == []
    assert len({kernel["spirv_sha256"] for kernel in session.take_kernels()}) == 2


def test_the_same_module_with_other_build_options_is_built_for_itself(session: Any) -> None:
    from numba_sycl import kernel
    from xebench import kernel_api as kapi

    def ones(item: kapi.NdItem, y):
        y[item.get_global_id(0)] = 1

    y = upload(session, np.zeros(64, np.int32))
    for relaxed in (False, True, False):
        session.launch((kernel(relaxed_math=True) if relaxed else kernel())(ones), space(), y)
    session.wait()
    assert [compilation.stage for compilation in session.take_compilations()].count("build") == 2
    plain, relaxed = session.take_kernels()
    assert plain["spirv_sha256"] == relaxed["spirv_sha256"]
    assert (plain["build_options"], relaxed["build_options"]) == ("", "-cl-fast-relaxed-math")


def test_what_is_kept_of_a_kernel_tells_how_it_was_launched_first(session: Any) -> None:
    from numba_sycl import kernel
    from numba_sycl import kernel_api as kapi

    @kernel(sub_group_size=16)
    def through_slm(item: kapi.NdItem, y, scratch):
        scratch[item.get_local_id(0)] = item.get_global_id(0)
        y[item.get_global_id(0)] = scratch[item.get_local_id(0)]

    @kernel
    def numbered(item: kapi.Item, y):
        y[item.get_id(0)] = item.get_id(0)

    y = upload(session, np.zeros(64, np.int32))
    for size, local in ((64, 32), (32, 16)):
        scratch = kapi.LocalAccessor(local, np.int32)
        session.launch(through_slm, kapi.NdRange((size,), (local,)), y, scratch)
    session.launch(numbered, kapi.Range(64), y)
    session.wait()
    grouped, plain = session.take_kernels()
    assert (grouped["global_size"], grouped["local_size"], grouped["local_bytes"]) == ([64], [32], 128)
    assert grouped["sub_group_size"] == grouped["max_sub_group_size"] == 16
    assert (plain["global_size"], plain["local_size"], plain["local_bytes"]) == ([64], None, 0)


def test_arrays_of_two_precisions_are_noted(session: Any) -> None:
    from numba_sycl import kernel
    from xebench import kernel_api as kapi

    @kernel
    def copied(item: kapi.Item, x, y):
        y[item.get_id(0)] = x[item.get_id(0)]

    for dtype in (np.float32, np.float64):
        x, y = upload(session, np.ones(8, dtype)), upload(session, np.zeros(8, np.float32))
        session.launch(copied, kapi.Range(8), x, y)
    session.wait()
    assert [used["mixes_fp64_fp32"] for used in session.take_kernels()] == [False, True]


def test_another_shape_of_the_launch_or_another_queue_is_another_launch(session: Any) -> None:
    kernel = shift_kernel()
    x, y = upload(session, np.ones(64, np.int32)), upload(session, np.zeros(64, np.int32))
    session.launch(kernel, space(64), x, y, np.int32(1))
    session.launch(kernel, space(32), x, y, np.int32(2))
    session.launch(kernel, space(64), x, y, np.int32(3), queue=session.new_queue())
    session.wait()
    session.forget_queues(1)
    session.launch(kernel, space(64), x, y, np.int32(4))
    session.wait()
    from xebench.session.device_memory import DeviceMemory

    assert DeviceMemory(session.queue).read(y).tolist() == [5] * 64


def test_wrong_arguments_are_told_on_a_later_launch_too(session: Any) -> None:
    from numba_sycl import ArgumentError

    kernel = shift_kernel()
    x = upload(session, np.ones(64, np.int32))
    shifted(session, kernel, x, np.int32(1))
    with pytest.raises(ArgumentError, match="takes 3 arguments after its item, 2 given"):
        session.launch(kernel, space(), x, x)
    with pytest.raises(ArgumentError, match="host memory"):
        session.launch(kernel, space(), np.ones(64, np.int32), x, np.int32(1))


def local_memory_kernel() -> Any:
    from xebench import kernel
    from xebench import kernel_api as kapi

    @kernel
    def local(item: kapi.NdItem, y, slm):
        slm[item.get_local_id(0)] = np.int32(1)
        y[item.get_global_id(0)] = slm[item.get_local_id(0)]

    return local


def test_what_the_device_cannot_do_is_unsupported_on_a_later_launch_too(session: Any) -> None:
    from xebench import kernel_api as kapi

    local = local_memory_kernel()
    y = upload(session, np.zeros(64, np.int32))
    session.launch(local, space(), y, kapi.LocalAccessor(64, np.int32))
    for _ in range(2):
        with pytest.raises(Unsupported, match="local memory"):
            session.launch(local, space(), y, kapi.LocalAccessor(1 << 28, np.int32))


def test_an_observer_sees_every_launch_even_of_what_the_device_cannot_run() -> None:
    import dpctl

    from numba_sycl import kernel
    from numba_sycl.tensor import tensor as dpt
    from xebench import kernel_api as kapi
    from xebench.session.session_kernels import SessionKernels

    seen: list[tuple[Any, ...]] = []
    store = SessionKernels(observer=lambda *launch: seen.append(launch))
    queue = dpctl.SyclQueue("cpu", property=["in_order", "enable_profiling"])
    y = dpt.zeros(64, dtype="i4", sycl_queue=queue)
    local = local_memory_kernel()
    arguments = [(y, kapi.LocalAccessor(size, np.int32)) for size in (64, 64, 1 << 28)]
    for few in arguments[:2]:
        store.submit(local, queue, space(), few, ()).wait()
    with pytest.raises(Unsupported):
        store.submit(local, queue, space(), arguments[2], ())

    huge = kernel(sub_group_size=1 << 20)(local.py_func)  # its build is refused
    with pytest.raises(Unsupported):
        store.submit(huge, queue, space(), arguments[0], ())
    assert [(compiled.name, index_space, given, on) for _, compiled, index_space, given, on in seen] == [
        ("local", space(), given, queue) for given in (*arguments, arguments[0])
    ]
    assert seen[0][1].sha256 == seen[1][1].sha256 == seen[2][1].sha256 != seen[3][1].sha256


def test_what_is_forgotten_is_built_again_and_counted(session: Any) -> None:
    kernel, x = shift_kernel(), upload(session, np.arange(64, dtype=np.float32))
    shifted(session, kernel, x, np.float32(1))

    def sample() -> None:
        session.forget_builds()
        session.launch(kernel, space(), x, x, np.float32(0))

    anew, again = session.measure(sample), session.measure(lambda: session.launch(kernel, space(), x, x, np.float32(0)))
    assert 0 < anew.build_ns < anew.host_ns
    assert again.build_ns == 0
    assert stages(session).count("build") == 2


def counted_builds(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked for whenever a kernel is built from now on."""
    from numba_sycl import device_kernel, kernel_store

    asked_for = []

    def build(*asked: Any) -> Any:
        asked_for.append(asked)
        return device_kernel.build(*asked)

    monkeypatch.setattr(kernel_store, "build", build)
    return asked_for


@pytest.mark.skipif(is_current(), reason="its SYCL runtime takes no kernel that OpenCL has loaded")
def test_kernels_are_loaded_from_binaries_until_they_are_forgotten(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, x = shift_kernel(), upload(session, np.arange(64, dtype=np.int32))
    first = shifted(session, kernel, x, 1)
    built = counted_builds(monkeypatch)
    for _ in range(2):
        session.forget_builds(keep_binaries=True)
        assert shifted(session, kernel, x, 2).tolist() == (first + 1).tolist()
    assert not built
    assert stages(session).count("build") == 3, "a load is timed as a build is"
    session.forget_builds()
    assert shifted(session, kernel, x, 1).tolist() == first.tolist()
    assert len(built) == 1


@pytest.mark.skipif(is_current(), reason="its SYCL runtime takes no kernel that OpenCL has loaded")
def test_what_was_built_for_a_cpu_is_loaded_after_a_release_if_that_is_wanted(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, x = shift_kernel(), upload(session, np.arange(64, dtype=np.int32))
    built = counted_builds(monkeypatch)
    expected = shifted(session, kernel, x, 1).tolist()
    for loads, builds in ((False, 2), (True, 2), (False, 3)):
        session.release()
        if loads:
            session.load_builds()
        assert shifted(session, kernel, x, 1).tolist() == expected
        assert len(built) == (builds if session.device.is_cpu else len(built))
    session.load_builds()
    session.forget_builds()
    assert shifted(session, kernel, x, 1).tolist() == expected
    assert len(built) == 4, "a variant that wants builds has them"


@pytest.mark.skipif(is_current(), reason="its SYCL runtime takes no kernel that OpenCL has loaded")
def test_what_was_built_for_a_cpu_is_loaded_in_each_new_context(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, built = shift_kernel(), counted_builds(monkeypatch)
    for loads, builds in ((False, 2), (True, 2 if session.device.is_cpu else 4)):
        session.release()
        if loads:
            session.load_builds()
        for _ in range(2):
            queue = session.new_queue(context="separate")
            x, y = (session.alloc(64, np.int32, queue=queue) for _ in range(2))
            session.copy(x, np.arange(64, dtype=np.int32), queue=queue)
            session.launch(kernel, space(), x, y, 1, queue=queue)
            found = np.empty(64, np.int32)
            session.copy(found, y, queue=queue)
            session.wait()
            assert found.tolist() == list(range(1, 65))
        assert len(built) == builds


def test_a_binary_that_the_driver_refuses_is_told(session: Any) -> None:
    from numba_sycl import KernelBuildError
    from xebench.dpex.loaded_binaries import load

    kernel, x = shift_kernel(), upload(session, np.arange(64, dtype=np.int32))
    shifted(session, kernel, x, 1)
    with pytest.raises(KernelBuildError, match="its binary cannot be loaded"):
        load(session._kernels.latest.device_kernel, b"no binary", session.queue)


def test_a_runtime_that_takes_no_binaries_is_a_reason_to_skip(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.dpex import loaded_binaries

    def lacking(*_: Any) -> None:
        raise AttributeError("/folder/libsycl.so.9: undefined symbol: make_kernel")

    monkeypatch.setattr(loaded_binaries, "kernel_of_binary", lacking)
    kernel, x = shift_kernel(), upload(session, np.arange(64, dtype=np.int32))
    shifted(session, kernel, x, 1)
    with pytest.raises(Unsupported, match="^needs a SYCL runtime .*: libsycl.so.9: undefined symbol: make_kernel$"):
        loaded_binaries.load(session._kernels.latest.device_kernel, b"binary", session.queue)


def test_strided_arrays_are_launched_as_others_are(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba_sycl import kernel_store

    kernel, x = shift_kernel(), upload(session, np.arange(128, dtype=np.int32))
    shifted(session, kernel, x[::2], np.int32(0))
    monkeypatch.setattr(kernel_store, "signature_of", None)
    assert shifted(session, kernel, x[::2], np.int32(1)).tolist() == list(range(1, 129, 2))


def test_an_int_is_a_signed_number_whatever_was_launched_before(session: Any) -> None:
    from numba_sycl import kernel
    from xebench import kernel_api as kapi

    @kernel
    def third(item: kapi.NdItem, y, of):
        y[item.get_global_id(0)] = of // 3

    y = upload(session, np.zeros(64, np.int32))
    for of in (np.uint64(7), 7):
        session.launch(third, space(), y, of)
    session.wait()
    assert len(session.take_kernels()) == 2
