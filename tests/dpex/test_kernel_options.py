"""Options of a kernel: what they are refused for, what they become, and that they reach both ways of launching."""

import re
import subprocess
from pathlib import Path
from typing import Any

import dpcpp_llvm_spirv
import numba_dpex
import numpy as np
import pytest

from numba_sycl import PreparedLaunch, build, compile_kernel, device_func, kernel, options_of, specialize
from numba_sycl.errors import OptionError
from numba_sycl.kernel_options import NO_OPTIONS, KernelOptions
from numba_sycl.tensor import tensor as dpt
from xebench import kernel_api as kapi

pytestmark = pytest.mark.device
INTEL_GPU = ("level_zero", "Intel(R) Corporation", "gpu")


def accumulate(item: kapi.NdItem, x, y, n):
    i = item.get_global_id(0)
    for j in range(n):
        y[i] += x[j] * np.float32(3)


def eight(item: kapi.NdItem, x, y, n):
    total = np.float32(0)
    for j in range(8):
        total += x[j]
    y[item.get_global_id(0)] = total


@pytest.fixture
def args(queue: Any) -> tuple[Any, Any, int]:
    x = dpt.ones(64, dtype="f4", sycl_queue=queue)
    return x, dpt.zeros(64, dtype="f4", sycl_queue=queue), 8


INDEX_SPACE = kapi.NdRange((64,), (32,))


def spirv_text(spirv: bytes, folder: Path) -> str:
    path = folder / "kernel.spv"
    path.write_bytes(spirv)
    command = [dpcpp_llvm_spirv.get_llvm_spirv_path(), "--to-text", str(path), "-o", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def lines_of(options: dict[str, Any], function: Any, args: Any, folder: Path) -> list[str]:
    compiled = compile_kernel(kernel(**options)(function), INDEX_SPACE, args)
    return [line.strip() for line in spirv_text(compiled.spirv, folder).splitlines()]


def body(options: dict[str, Any], function: Any, args: Any) -> str:
    text = compile_kernel(kernel(**options)(function), INDEX_SPACE, args).llvm_ir
    assert text is not None
    return text


@pytest.mark.parametrize(
    "options",
    [
        {"sub_group_size": 12},
        {"sub_group_size": 0},
        {"work_group_size": ()},
        {"work_group_size": (4, 0)},
        {"work_group_size": (2, 2, 2, 2)},
        {"unroll": 1},
        {"unroll": "all"},
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        kernel(**options)


def test_the_decorator_is_a_drop_in() -> None:
    plain, bare = numba_dpex.kernel(accumulate), kernel(accumulate)
    assert isinstance(bare, type(plain))
    assert options_of(plain) == options_of(bare) == NO_OPTIONS
    assert bare.targetoptions["error_model"] == "numpy"
    assert kernel(error_model="python", inline_threshold=1)(accumulate).targetoptions["inline_threshold"] == 1
    assert options_of(kernel(work_group_size=32, build_options="-g -w")(accumulate)) == KernelOptions(
        work_group_size=(32,), build_options=("-g", "-w")
    )


def test_two_kernels_of_one_function_keep_their_options() -> None:
    eight_wide, sixteen_wide = kernel(sub_group_size=8)(accumulate), kernel(sub_group_size=16)(accumulate)
    assert options_of(eight_wide).sub_group_size == 8
    assert options_of(sixteen_wide).sub_group_size == 16


def test_options_as_text() -> None:
    assert NO_OPTIONS.text() == "{}"
    assert KernelOptions(sub_group_size=8, fast_math=True).text() == '{"fast_math": true, "sub_group_size": 8}'


def test_flags_for_devices() -> None:
    options = KernelOptions(large_grf=True, relaxed_math=True, build_options=("-w",))
    assert options.flags(*INTEL_GPU) == (
        ("-w", "-cl-fast-relaxed-math", "-ze-opt-large-register-file"),
        (),
    )
    assert options.flags("opencl", "Intel(R) Corporation", "gpu")[0][-1] == "-cl-intel-256-GRF-per-thread"
    for other in (("opencl", "Intel(R) Corporation", "cpu"), ("opencl", "Another", "gpu")):
        assert options.flags(*other) == (("-w", "-cl-fast-relaxed-math"), ("large_grf",))


def test_options_ignored_by_the_device_are_recorded(args: Any, queue: Any) -> None:
    if queue.sycl_device.device_type.name != "cpu":
        pytest.skip("a GPU may have a use for large GRF")
    built = build(compile_kernel(kernel(large_grf=True)(accumulate), INDEX_SPACE, args), queue)
    assert built.ignored_options == ("large_grf",)
    assert built.build_options == ()


def test_required_sizes(args: Any, tmp_path: Path) -> None:
    lines = lines_of({"sub_group_size": 8, "work_group_size": (32,)}, accumulate, args, tmp_path)
    modes = [line for line in lines if "ExecutionMode" in line]
    assert any(re.search(r"ExecutionMode \d+ 17 32 1 1", line) for line in modes), "LocalSize"
    assert any(re.search(r"ExecutionMode \d+ 35 8", line) for line in modes), "SubgroupSize"


def test_unrolling(args: Any) -> None:
    loads = {
        unroll: body({"unroll": unroll}, eight, args).count("load float") for unroll in (None, 2, "full", "disable")
    }
    assert loads == {None: 1, 2: 2, "full": 8, "disable": 1}


def test_the_driver_is_told_not_to_unroll(args: Any, tmp_path: Path) -> None:
    merges = [line for line in lines_of({"unroll": "disable"}, accumulate, args, tmp_path) if "LoopMerge" in line]
    assert len(merges) == 1
    assert merges[0].endswith(" 2"), "LoopControl DontUnroll"


def test_fast_math(args: Any, tmp_path: Path) -> None:
    assert not [line for line in lines_of({}, accumulate, args, tmp_path) if "FPFastMathMode" in line]
    lines = lines_of({"fast_math": True}, accumulate, args, tmp_path)
    assert len({line for line in lines if "FPFastMathMode" in line}) == 2, "one for the product, one for the sum"


def test_restrict_lets_a_store_leave_the_loop(args: Any) -> None:
    def store_follows_loop(text: str) -> bool:
        return text.rindex("store float") > text.rindex("fadd") and "icmp eq" in text[: text.rindex("store float")]

    assert not store_follows_loop(body({}, accumulate, args))
    assert store_follows_loop(body({"restrict": True}, accumulate, args))


def test_plain_kernels_declare_no_extension_but_that_of_facts(args: Any, tmp_path: Path) -> None:
    lines = lines_of({}, accumulate, args, tmp_path)
    assert [line.split()[-1] for line in lines if re.match(r"\d+ Extension ", line)] == ['"SPV_KHR_expect_assume"']
    capabilities = {line.split()[-1] for line in lines if " Capability " in line}
    assert capabilities <= {"Addresses", "Linkage", "Kernel", "Int64", "Int8", "ExpectAssumeKHR"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sub_group_size": 8},
        {"unroll": 4, "restrict": True, "fast_math": True},
        {"unroll": "full"},
        {"work_group_size": 32, "relaxed_math": True},
    ],
)
def test_results_are_right_both_ways(options: dict[str, Any], args: Any, queue: Any) -> None:
    x, y, n = args
    run = kernel(**options)(accumulate)
    launch = PreparedLaunch(build(compile_kernel(run, INDEX_SPACE, args), queue), queue, INDEX_SPACE, args)
    launch.submit().wait()
    numba_dpex.call_kernel(run, INDEX_SPACE, x, y, n)
    assert dpt.asnumpy(y).tolist() == [48.0] * 64


def test_build_options_reach_call_kernel(args: Any) -> None:
    numba_dpex.call_kernel(kernel(accumulate), INDEX_SPACE, *args)
    with pytest.raises(RuntimeError, match="could not build"):
        numba_dpex.call_kernel(kernel(build_options="-no-such-option")(accumulate), INDEX_SPACE, *args)


def test_division_has_no_branch(args: Any) -> None:
    @device_func
    def ratio(a, b):
        return a / b

    def divide(item: kapi.NdItem, x, y, n):
        i = item.get_global_id(0)
        y[i] = ratio(x[i], y[i]) / x[0]

    def branches(options: dict[str, Any]) -> int:
        return body(options, divide, args).count("br i1")

    assert branches({}) == 0
    assert branches({"error_model": "python"}) > 0


def test_specialize_makes_constants_and_keeps_kernels(args: Any) -> None:
    def make(taps: int) -> Any:
        @kernel
        def run(item: kapi.NdItem, x, y, n):
            if taps > 100:
                y[0] = x[n]
            y[item.get_global_id(0)] = taps

        return run

    assert specialize(make, taps=17) is specialize(make, taps=17)
    assert specialize(make, taps=17) is not specialize(make, taps=18)
    assert specialize(make, taps=1) is not specialize(make, taps=True)
    text = compile_kernel(specialize(make, taps=17), INDEX_SPACE, args).llvm_ir
    assert text is not None
    assert "br i1" not in text, "the branch on the constant is gone"
    assert "1.700000e+01" in text
