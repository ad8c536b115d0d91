"""Kernels in SYCL C++: compiled once by the runtime's own compiler, and launched with what their classes take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numba_sycl.errors import ArgumentError, KernelBuildError
from xebench import kernel_api as kapi
from xebench import sycl_kernel
from xebench.dpex import NeedsSyclCompiler
from xebench.system.runtime import sycl_headers, sycl_shim

pytestmark = pytest.mark.device

BEGIN = """
#include <sycl/sycl.hpp>
namespace syclex = sycl::ext::oneapi::experimental;
using sycl::ext::oneapi::this_work_item::get_nd_item;
"""
PROPERTY = 'extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::nd_range_kernel<1>))\n'
SPACE = kapi.NdRange((8,), (4,))
ALL_KINDS = (
    BEGIN
    + PROPERTY
    + """void printed_squares(sycl::accessor<long> y, int factor, sycl::stream out) {
    const auto i = get_nd_item<1>().get_global_id(0);
    y[i] = i * i * factor;
    out << "ID=" << i << sycl::endl;
}
"""
    + PROPERTY
    + """void sums(const float *x, sycl::accessor<float> y, sycl::local_accessor<float> kept, float a) {
    const auto item = get_nd_item<1>();
    const auto lane = item.get_local_id(0);
    kept[lane] = a * x[item.get_global_id(0)];
    sycl::group_barrier(item.get_group());
    if (lane > 0)
        return;
    float sum = 100 * y.size() + kept.size();
    for (int k = 0; k < item.get_local_range(0); ++k)
        sum += kept[k];
    y[item.get_group(0)] = sum;
}
"""
)


@pytest.fixture
def session() -> Any:
    from xebench.session.session import Session

    made = Session.on("cpu")
    made.records_direct_calls = False
    return made


@pytest.fixture
def compiler() -> None:
    if missing := sycl_headers.obstacle():
        pytest.skip(missing)


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_accessors_streams_pointers_and_local_memory(session: Any, capfd: pytest.CaptureFixture[str]) -> None:
    squares = np.zeros(8, np.int64)
    with session.buffer(squares) as y:
        objects = session.accessor(y, "write"), 3, session.stream(1024, 16)
        session.launch(sycl_kernel(ALL_KINDS, name="printed_squares"), SPACE, *objects)
        session.wait()
        assert sorted(capfd.readouterr().out.split()) == [f"ID={i}" for i in range(8)]
    assert squares.tolist() == [3 * i * i for i in range(8)]
    x, y = session.alloc(16, np.float32), session.alloc(4, np.float32)
    session.copy(x, np.arange(16, dtype=np.float32))
    kept = kapi.LocalAccessor(4, np.float32)
    session.launch(sycl_kernel(ALL_KINDS, name="sums"), kapi.NdRange((16,), (4,)), x, y, kept, 2.0)
    found = np.empty(4, np.float32)
    session.copy(found, y)
    session.wait()
    assert found.tolist() == [404 + 2 * sum(range(4 * group, 4 * group + 4)) for group in range(4)]


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_it_is_compiled_once_and_kept_on_disk(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sycl_shim.load()  # from the user's folder
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = BEGIN + PROPERTY + "void nothing(int n) { }"
    from xebench.session.session import Session

    Session.on("cpu").launch(sycl_kernel(text), SPACE, 1).wait()
    monkeypatch.setattr(sycl_shim, "load", lambda: pytest.fail("compiled again"))
    again = Session.on("cpu")
    again.launch(sycl_kernel(text), SPACE, 1).wait()
    (used,) = again._kernels.take_used()
    assert used["name"] == "__sycl_kernel_nothing" and used["compiler"].startswith("DPC++ of intel-sycl-rt 20")


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_errors_of_the_compiler_are_one_line(session: Any) -> None:
    wrong = PROPERTY + "void wrong(int *x) { *x = nobody; }"
    x = session.alloc(1, np.int32)
    with pytest.raises(KernelBuildError) as caught:
        session.launch(sycl_kernel(BEGIN + wrong), SPACE, x)
    reason = "line 6: use of undeclared identifier 'nobody'"
    assert str(caught.value) == f"kernel wrong does not build for any device: {reason}"
    with pytest.raises(NeedsSyclCompiler) as missing:
        session.launch(sycl_kernel("#include <oneapi/dpl/none>\n" + wrong), SPACE, x)
    reason = "needs the header oneapi/dpl/none (pip install onedpl-devel)"
    assert str(missing.value) == f"kernel wrong is in SYCL C++: {reason}"


def test_without_a_compiler_one_line_names_it(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sycl_headers, "compiler", lambda: None)
    sycl_shim.load.cache_clear()
    text = PROPERTY + "void nothing(int a_parameter_of_this_test) { }"
    with pytest.raises(
        NeedsSyclCompiler, match=r"^kernel nothing is in SYCL C\+\+: needs (the headers of|a C\+\+ comp)"
    ):
        session.launch(sycl_kernel(text), SPACE, 1)
    sycl_shim.load.cache_clear()


def test_what_is_no_stream_is_refused(session: Any) -> None:
    printed = sycl_kernel(ALL_KINDS, name="printed_squares")
    with pytest.raises(ArgumentError, match="argument 2 is int64; the kernel takes stream"):
        session.launch(printed, SPACE, session.alloc(8, np.int64), 1, 8192)
