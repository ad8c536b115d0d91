"""Kernels in OpenCL C and SPIR-V: launched like those of Python, refused in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optional import needs

import xebench
from numba_sycl import (
    ArgumentError,
    IndexSpaceError,
    KernelBuildError,
    OptionError,
    PreparedLaunch,
    SubmissionError,
    UnsupportedByDevice,
    build,
    compile_kernel,
    kernel,
)
from numba_sycl import kernel_api as kapi
from numba_sycl.spirv_module import instructions
from numba_sycl.tensor import tensor as dpt
from xebench.dpex import ForeignKernel, opencl_kernel, spirv_kernel
from xebench.dpex.opencl_modules import foreign_digest
from xebench.session.session import Session
from xebench.system.offline_compiler import to_spirv

pytestmark = pytest.mark.device

SCALE = """
__kernel void scale(__global float *x, const float a, __local float *tile, const ulong n) {
    const size_t i = get_global_id(0);
    tile[get_local_id(0)] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        x[i] = a * tile[get_local_id(0)] + OFFSET;
}
"""
SPACE = kapi.NdRange((64,), (32,))
LOCAL = kapi.LocalAccessor(32, np.float32)


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.on(dpt.empty(1).sycl_device.filter_string)


@pytest.fixture(scope="module")
def scale(session: Session) -> ForeignKernel:
    if session.device.backend.name != "opencl":
        pytest.skip("the device takes no OpenCL C")
    return opencl_kernel(SCALE, build_options="-DOFFSET=1.0f")


@pytest.fixture
def x(session: Session) -> Any:
    return dpt.asarray(np.arange(64, dtype=np.float32), sycl_queue=session.queue)


def test_it_is_given_pointers_numbers_and_local_memory(session: Session, scale: ForeignKernel, x: Any) -> None:
    session.take_compilations(), session.take_kernels()
    event = session.launch(scale, SPACE, x, 2, LOCAL, 60)
    _, start, end = event.times()
    assert end > start
    before = np.arange(64, dtype=np.float32)
    assert dpt.asnumpy(x).tolist() == np.where(before < 60, 2 * before + 1, before).tolist()
    assert [(row.kernel, row.stage, row.cached) for row in session.take_compilations()] == [("scale", "build", False)]
    (used,) = session.take_kernels()
    assert (used["name"], used["language"]) == ("scale", "opencl")
    assert used["build_options"] == "-cl-std=CL1.2 -DOFFSET=1.0f"
    # other values of the same types are bound to the launch that there is
    session.launch(scale, SPACE, x, np.float32(0), LOCAL, np.uint64(64)).wait()
    assert set(dpt.asnumpy(x).tolist()) == {1.0}
    assert session.take_compilations() == []


def test_dimension_0_is_the_fastest(session: Session, scale: ForeignKernel, x: Any) -> None:
    number = opencl_kernel(
        "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void number(__global float *x)"
        "{ x[get_global_id(1) * 8 + get_global_id(0)] = get_global_id(0); }"
    )
    assert number.options.work_group_size == (8, 4)
    session.launch(number, kapi.NdRange((8, 8), (8, 4)), x).wait()
    assert dpt.asnumpy(x).tolist() == list(range(8)) * 8
    with pytest.raises(IndexSpaceError, match=re.escape("kernel number requires work-groups of (8, 4), not (4, 8)")):
        session.launch(number, kapi.NdRange((8, 8), (4, 8)), x)


ARRAY = "argument 0 is {}; the kernel takes global float32*"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (lambda x: (x, 2, LOCAL), "takes 4 arguments (global float32*, float32, local float32*, uint64), 3 given"),
        (lambda x: (dpt.astype(x, "i4"), 2, LOCAL, 1), ARRAY.format("an array of int32")),
        (lambda x: (x[::2], 2, LOCAL, 1), ARRAY.format("an array that is not contiguous")),
        (lambda _: (np.zeros(64, np.float32), 2, LOCAL, 1), ARRAY.format("no USM array")),
        (lambda x: (x, "2", LOCAL, 1), "argument 1 is a str; the kernel takes float32"),
        (lambda x: (x, np.float64(2), LOCAL, 1), "argument 1 is float64; the kernel takes float32"),
        (lambda x: (x, 2, x, 1), "argument 2 is float32[:]C; the kernel takes local float32*"),
        (lambda x: (x, 2, kapi.LocalAccessor(32, np.int32), 1), "argument 2 is local int32[:]; the kernel takes"),
        (lambda x: (x, 2, LOCAL, 1.5), "argument 3 is float64; the kernel takes uint64"),
        (lambda x: (x, 2, LOCAL, -1), "a number does not fit the type"),
        (lambda x: (x, 1e300, LOCAL, 1), "a number does not fit the type"),
    ],
)
def test_wrong_arguments_are_one_line(
    session: Session, scale: ForeignKernel, x: Any, arguments: Callable[[Any], tuple[Any, ...]], line: str
) -> None:
    with pytest.raises(ArgumentError, match=re.escape(line)) as caught:
        session.launch(scale, SPACE, *arguments(x))
    assert "\n" not in str(caught.value)


def test_what_the_device_cannot_run_is_refused_before_it_is_built(
    session: Session, scale: ForeignKernel, x: Any
) -> None:
    with pytest.raises(IndexSpaceError, match="has a LocalAccessor, which needs an NdRange"):
        session.launch(scale, kapi.Range(64), x, 2, LOCAL, 64)
    with pytest.raises(UnsupportedByDevice, match="needs 1073741824 bytes of local memory"):
        session.launch(scale, SPACE, x, 2, kapi.LocalAccessor(1 << 28, np.float32), 64)
    wide = opencl_kernel(
        "__attribute__((intel_reqd_sub_group_size(SIMD))) __kernel void wide(__global float *x) { x[0] = 1; }",
        build_options="-DSIMD=4096",
    )
    with pytest.raises(UnsupportedByDevice, match="kernel wide requires sub-groups of 4096"):
        session.launch(wide, SPACE, x)


def test_broken_text_is_one_line_with_its_line(session: Session, scale: ForeignKernel, x: Any) -> None:
    broken = opencl_kernel("__kernel void broken(__global float *x) {\n    x[0] = nobody;\n}")
    with pytest.raises(KernelBuildError, match=r"^kernel broken does not build for .*: line 2: .*'nobody'$"):
        session.launch(broken, SPACE, x)


def test_arguments_that_are_stated_wrongly_are_told(session: Session, scale: ForeignKernel, x: Any) -> None:
    text = "__kernel void put(__global float *x, int n) { x[0] = n; }"
    with pytest.raises(ArgumentError, match="kernel put has 2 arguments in its code, 1 are stated: correct arguments="):
        session.launch(opencl_kernel(text, arguments="__global float *x"), SPACE, x)
    with pytest.raises(SubmissionError, match="are the argument types that are stated those of its code"):
        session.launch(opencl_kernel(text, arguments="__global float *x, ulong n"), SPACE, x, 1)


def test_a_kernel_that_declares_more_local_memory_than_there_is_says_so(session: Session, x: Any) -> None:
    floats = int(session.device.local_mem_size) // 4 + 1
    tile = (
        f"__kernel void t(__global float *x) {{ __local float a[{floats}]; a[get_local_id(0)] = x[0]; x[1] = a[0]; }}"
    )
    with pytest.raises(SubmissionError, match=f"it declares {4 * floats} bytes of local memory, and the device has"):
        session.launch(opencl_kernel(tile), SPACE, x)


def test_kernels_of_one_text_are_not_mixed_up(session: Session, scale: ForeignKernel, x: Any) -> None:
    text = (
        "__kernel void ones(__global float *x) { x[get_global_id(0)] = 1; }"
        "__kernel void twos(__global float *x) { x[get_global_id(0)] = 2; }"
    )
    ones, twos = (opencl_kernel(text, name=name) for name in ("ones", "twos"))
    session.launch(ones, kapi.Range(64), x)
    session.launch(twos, kapi.Range(32), x).wait()
    assert dpt.asnumpy(x).tolist() == [2.0] * 32 + [1.0] * 32


@pytest.mark.numba_dpex
def test_spirv_of_a_file_or_of_bytes(session: Session, x: Any, tmp_path: Path) -> None:
    @kernel
    def fill(item: kapi.Item, y: Any) -> None:
        y[item.get_id(0)] = np.float32(7)

    compiled = compile_kernel(fill, kapi.Range(64), (x,))
    path = tmp_path / "fill.spv"
    path.write_bytes(compiled.spirv)
    # numba-dpex passes an array as six arguments, the third is the pointer
    stated = "long items, long bytes, __global float *x, long shape, long stride"
    for module in (path, compiled.spirv):
        dpt.asarray(x)[:] = 0
        session.launch(spirv_kernel(module, arguments=stated), kapi.Range(64), 64, 4, x, 64, 4).wait()
        assert set(dpt.asnumpy(x).tolist()) == {7.0}
    assert session.take_kernels()[-1]["language"] == "spirv"
    with pytest.raises(OptionError, match="it has no kernel 'other': known are"):
        spirv_kernel(path, name="other", arguments=stated)
    with pytest.raises(OptionError, match="no SPIR-V"):
        spirv_kernel(b"text", arguments="")
    with pytest.raises(OptionError, match="missing.spv"):
        spirv_kernel(tmp_path / "missing.spv", arguments="")


def test_it_is_prepared_and_compared_like_any_other(session: Session, scale: ForeignKernel, x: Any) -> None:
    compiled = compile_kernel(scale, SPACE, (x, 2, LOCAL, 64))
    assert (compiled.language, compiled.stages) == ("opencl", {})
    assert compiled.code.decode() == f"#pragma OPENCL FP_CONTRACT OFF\n#line 1\n{SCALE}"
    launch = PreparedLaunch(build(compiled, session.queue), session.queue, SPACE, (x, 0, LOCAL, 64))
    launch.submit().wait()
    assert set(dpt.asnumpy(x).tolist()) == {1.0}
    compared = xebench.compare(
        {name: lambda: session.launch(scale, SPACE, x, 0, LOCAL, 64) for name in ("one", "other")},
        queue=session,
        reference="one",
        budget_s=0.2,
        precision=0.5,
    )
    assert set(compared.run.cases["status"]) == {"ok"}


def test_its_identity_is_its_text_and_what_its_compiler_is_told() -> None:
    kernels = [
        opencl_kernel(SCALE),
        opencl_kernel(SCALE, build_options="-DOFFSET=2"),
        opencl_kernel(SCALE, relaxed_math=True),
        opencl_kernel(SCALE + " "),
    ]
    assert len({foreign_digest(each) for each in kernels}) == len(kernels)
    # registers are the driver's business, not the module's
    assert foreign_digest(opencl_kernel(SCALE, large_grf=True)) == foreign_digest(kernels[0])


IN_C = """
__kernel void multiply_and_add(__global float *x, const float a, const float b) {
    x[get_global_id(0)] = a * x[get_global_id(0)] + b;
}"""


@needs("ocloc")
@pytest.mark.parametrize("contracted", [False, True])
def test_contraction_is_an_option_as_in_python(contracted: bool) -> None:
    foreign = opencl_kernel(IN_C, fp_contract=contracted)
    module = to_spirv(foreign.opencl_c, foreign.options.source_flags)
    off = [words for code, words in instructions(module) if code == 16 and words[1] == 31]  # OpExecutionMode
    assert bool(off) != contracted
    assert foreign.options.fp_contract == contracted
