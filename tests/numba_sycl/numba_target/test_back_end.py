"""Modules of our own target: the same bytes everywhere, loop hints in them, one line where LLVM gives up."""

import math
import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from numba_sycl import compile_kernel, device_func, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

pytestmark = [pytest.mark.device, pytest.mark.skipif(not is_current(), reason="numba-dpex compiles on this stack")]

MODULE = """
target triple = "spirv64v1.3-unknown-unknown"
define spir_kernel void @fill(ptr addrspace(1) %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %x, i64 %i
  store volatile i32 1, ptr addrspace(1) %at
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
"""
TRIPLE = "spirv64v1.3-unknown-unknown"

PROGRAM = """
import hashlib, sys
from numba_sycl import kernel, kernel_api as kapi
from numba_sycl import compile_kernel
from numba_sycl.tensor import tensor as dpt
@kernel(unroll="disable", sub_group_size=8)
def run(item: kapi.Item, x, n):
    for k in range(n):
        x[item.get_id(0)] += k
for dtype in ("f4", "i8"):
    compiled = compile_kernel(run, kapi.Range(4), (dpt.zeros(4, dtype=dtype), 3))
    print(hashlib.sha256(compiled.spirv).hexdigest())
"""


ODD = """
target triple = "spirv64v1.3-unknown-unknown"
define spir_kernel void @count(ptr addrspace(1) %x) {
  %value = load i64, ptr addrspace(1) %x
  %low = trunc i64 %value to i4
  %third = udiv i4 %low, 3
  %bits = call i4 @llvm.ctpop.i4(i4 %third)
  %wide = zext i4 %bits to i64
  store i64 %wide, ptr addrspace(1) %x
  ret void
}
declare i4 @llvm.ctpop.i4(i4)
"""


@pytest.fixture
def back_end() -> Any:
    from numba_sycl.code_generation.back_end import BackEnd

    return BackEnd()


def loop_merges(spirv: bytes) -> list[int]:
    """The controls of the loops of a module."""
    words = np.frombuffer(spirv, np.uint32)
    found, at = [], 5
    while at < len(words):
        if words[at] & 0xFFFF == 246:
            found.append(int(words[at + 3]))
        at += words[at] >> 16
    return found


def test_a_module_of_text_becomes_spirv_with_the_hint_of_its_loop(back_end: Any) -> None:
    from numba_sycl.spirv_module import loop_hints, with_loop_controls

    text, spirv = back_end.emit(MODULE, TRIPLE, unroll=False)
    assert loop_merges(spirv) == []
    assert loop_hints(text) == [2]
    assert loop_merges(with_loop_controls(spirv, [2])) == [2]
    assert with_loop_controls(spirv, [0]) == spirv


@pytest.mark.parametrize(("unroll", "controls"), [(None, []), ("disable", [2]), ("full", [])])
def test_the_option_of_a_kernel_reaches_its_loops(unroll: Any, controls: list[int]) -> None:
    """One of unknown length cannot be unrolled in full, and no factor is asked for."""

    @kernel(unroll=unroll)
    def add(item: kapi.Item, x: Any, n: Any) -> None:
        for k in range(n):
            x[item.get_id(0)] += k

    compiled = compile_kernel(add, kapi.Range(4), (dpt.zeros(4, dtype="f4"), 3))
    assert loop_merges(compiled.spirv) == controls


def test_a_kernel_of_200_branches_compiles_with_every_option() -> None:
    branches = "".join(
        f"    {'elif' if number else 'if'} x[i] < {number}.5:\n        s = {number}.0\n" for number in range(200)
    )
    source = f"def run(item, x):\n    i = item.get_id(0)\n    s = 0.0\n{branches}    x[i] = s\n"
    names: dict[str, Any] = {}
    exec(source, names)
    options: dict[str, Any] = {"fast_math": True, "unroll": 4, "relaxed_math": True, "restrict": True}
    compiled = compile_kernel(kernel(names["run"], **options), kapi.Range(4), (dpt.zeros(4, dtype="f4"),))
    assert compiled.llvm_ir is not None
    assert compiled.llvm_ir.count("fcmp fast olt") == 200


def test_options_reach_functions_that_another_kernel_called_before() -> None:
    @device_func
    def sum_of_roots(x: Any, n: Any) -> Any:
        total = 0.0
        for k in range(n):
            total += math.sqrt(x + k)
        return total

    def run(item: kapi.Item, x: Any, n: Any) -> None:
        x[item.get_id(0)] = sum_of_roots(x[0], n)

    plain, marked = (
        compile_kernel(made, kapi.Range(4), (dpt.zeros(4, dtype="f4"), 3)).llvm_ir or ""
        for made in (kernel(run), kernel(run, fast_math=True, unroll="disable"))
    )
    assert " fadd " in plain
    assert "fadd fast" not in plain
    assert "llvm.loop" not in plain
    assert "fadd fast" in marked
    assert "llvm.loop.unroll.disable" in marked


def test_integers_that_the_back_end_would_widen_are_refused(back_end: Any) -> None:
    from numba_sycl.code_generation.back_end import BackEndError

    with pytest.raises(BackEndError, match="LLVM made integers of 4 bits, which its back end would widen"):
        back_end.emit(ODD, TRIPLE, unroll=False)


def test_a_loop_whose_formula_has_33_bits_stays_a_loop() -> None:
    @kernel
    def total(item: kapi.Item, x: Any, n: Any) -> None:
        result = np.int32(0)
        for k in range(n):
            result += np.int32(k)
        x[item.get_id(0)] = result

    compiled = compile_kernel(total, kapi.Range(4), (dpt.zeros(4, dtype="i4"), 3))
    assert compiled.llvm_ir is not None
    assert " i33 " not in compiled.llvm_ir
    assert " phi " in compiled.llvm_ir


def test_a_square_is_a_product() -> None:
    @kernel
    def square(item: kapi.Item, x: Any) -> None:
        x[item.get_id(0)] = np.float32(np.floor(x[item.get_id(0)])) ** 2

    text = compile_kernel(square, kapi.Range(4), (dpt.zeros(4, dtype="f4"),)).llvm_ir
    assert text is not None
    assert " fmul " in text
    assert " phi " not in text


def test_a_module_says_opencl_c_which_drivers_look_at() -> None:
    @kernel
    def fill(item: kapi.Item, x: Any) -> None:
        x[item.get_id(0)] = 1

    words = np.frombuffer(compile_kernel(fill, kapi.Range(4), (dpt.zeros(4, dtype="f4"),)).spirv, np.uint32).tolist()
    source, opencl_c = 3 << 16 | 3, 3
    assert words[words.index(source) + 1 :][:2] == [opencl_c, 102000]


def test_what_llvm_refuses_is_one_line(back_end: Any) -> None:
    from numba_sycl.code_generation.back_end import BackEndError

    with pytest.raises(BackEndError, match="^LLVM's SPIR-V back end: LLVM IR parsing error$"):
        back_end.emit("nonsense", TRIPLE, unroll=False)
    assert back_end.emit(MODULE, TRIPLE, unroll=False)[1]


def test_an_abort_of_llvm_costs_one_module(back_end: Any) -> None:
    from numba_sycl.code_generation.back_end import BackEndError

    impossible = re.sub(r"store volatile i32 1", "store volatile i1024 1", MODULE)
    with pytest.raises(BackEndError):
        back_end.emit(impossible, TRIPLE, unroll=False)
    assert back_end.emit(MODULE, TRIPLE, unroll=False)[1]


def test_a_forked_process_has_a_server_of_its_own(back_end: Any) -> None:
    expected = back_end.emit(MODULE, TRIPLE, unroll=False)
    server = back_end._process.pid
    if not (child := os.fork()):
        same = back_end.emit(MODULE, TRIPLE, unroll=False) == expected
        os._exit(0 if same and back_end._process.pid != server else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert back_end.emit(MODULE, TRIPLE, unroll=False) == expected


def test_every_process_makes_the_same_bytes(tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    moved = tmp_path / "elsewhere" / "another_name.py"
    moved.parent.mkdir()
    moved.write_text("\n\n" + PROGRAM)
    said = [
        subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True).stdout
        for path in (program, moved)
    ]
    assert said[0] == said[1]
    assert len(set(said[0].split())) == 2
