"""Rewriting LLVM IR: what goes in, what comes out, and LLVM reads it."""

import re

import pytest
from llvmlite import binding

from xebench.dpex import llvm14_text

MODULE = """\
@_ZN08NumbaEnv8__main__1k = common local_unnamed_addr global i8* null
@_ZN08NumbaEnv8__main__4used = common local_unnamed_addr global i8* null
@__spirv_BuiltInGlobalInvocationId = external addrspace(1) constant <3 x i64>, align 32

define spir_kernel void @_ZN8kernel_2450(i64 %.1, float addrspace(1)* nocapture readonly %.2, \
float addrspace(3)* %.3, double %.4) local_unnamed_addr #0 {
entry:
  %id = load i64, i64 addrspace(1)* getelementptr (<3 x i64>, <3 x i64> addrspace(1)* \
@__spirv_BuiltInGlobalInvocationId, i64 0, i64 2), align 16
  %first = load i64, i64 addrspace(1)* bitcast (<3 x i64> addrspace(1)* \
@__spirv_BuiltInGlobalInvocationId to i64 addrspace(1)*), align 32
  %env = load i8*, i8** @_ZN08NumbaEnv8__main__4used
  br label %"loop body"

"loop body":                                      ; preds = %entry, %"loop body"
  %i = phi i64 [ 0, %entry ], [ %next, %"loop body" ]
  %next = add nuw i64 %i, 1
  %at = getelementptr float, float addrspace(1)* %.2, i64 %i
  %value = load float, float addrspace(1)* %at
  %twice = fmul float %value, 2.0
  %sum = fadd nnan float %twice, %value
  %less = fcmp olt float %sum, %value
  %both = and i1 %less, %less
  %done = icmp eq i64 %next, %first
  br i1 %done, label %exit, label %"loop body"

exit:                                             ; preds = %"loop body"
  %at2 = getelementptr float, float addrspace(3)* %.3, i64 %id
  store float %sum, float addrspace(3)* %at2
  ret void
}

attributes #0 = { norecurse nounwind }
"""
KERNEL = "_ZN8kernel_2450"


def parsed(text: str) -> str:
    module = binding.parse_assembly(text)
    module.verify()
    return str(module)


def test_unused_environments_go_used_ones_stay() -> None:
    text = llvm14_text.drop_environments(MODULE)
    assert "NumbaEnv8__main__1k" not in text
    assert "NumbaEnv8__main__4used" in text
    parsed(text)


def test_builtins_are_loaded_whole() -> None:
    text = llvm14_text.load_whole_builtins(MODULE)
    assert "load i64" not in text
    assert len(re.findall(r"load <3 x i64>", text)) == 2
    assert [int(n) for n in re.findall(r"extractelement <3 x i64> %[\w.]+, i32 (\d)", text)] == [2, 0]
    parsed(text)


def test_a_function_is_renamed_everywhere() -> None:
    text = llvm14_text.rename_function(MODULE, KERNEL, "saxpy")
    assert KERNEL not in text
    assert "@saxpy(" in parsed(text)


def test_a_longer_name_is_another_function() -> None:
    text = f"declare void @{KERNEL}\ndeclare void @{KERNEL}.exit"
    assert llvm14_text.rename_function(text, KERNEL, "k") == f'declare void @"k"\ndeclare void @{KERNEL}.exit'


def test_fast_flags() -> None:
    text = parsed(llvm14_text.add_fast_flags(MODULE))
    assert "fmul fast float" in text
    assert "fadd fast float" in text
    assert "fcmp fast olt" in text
    assert llvm14_text.add_fast_flags(text) == text


def test_noalias_on_pointers_only_and_once() -> None:
    text = llvm14_text.add_noalias(MODULE, KERNEL)
    assert "float addrspace(1)* noalias nocapture readonly %.2, float addrspace(3)* noalias %.3, double %.4" in text
    assert llvm14_text.add_noalias(text, KERNEL) == text
    parsed(text)


def test_kernel_metadata() -> None:
    values = {"intel_reqd_sub_group_size": (16,), "reqd_work_group_size": (64, 2, 1)}
    text = parsed(llvm14_text.add_kernel_metadata(MODULE, KERNEL, values))
    for name, node in (("intel_reqd_sub_group_size", "i32 16"), ("reqd_work_group_size", "i32 64, i32 2, i32 1")):
        # LLVM writes the kinds in the order in which this process met them first
        found = re.search(rf"define .*!{name} (!\d) .*\{{", text)
        assert found
        assert f"{found[1]} = !{{{node}}}" in text


@pytest.mark.parametrize(
    ("unroll", "property_"),
    [(4, '!"llvm.loop.unroll.count", i32 4'), ("full", '!"llvm.loop.unroll.full"'), ("disable", "unroll.disable")],
)
def test_loops_are_marked(unroll: int | str, property_: str) -> None:
    text = parsed(llvm14_text.add_loop_metadata(MODULE, unroll))
    assert text.count("!llvm.loop !") == 1
    assert property_ in text


def test_metadata_numbers_do_not_collide() -> None:
    text = llvm14_text.add_kernel_metadata(MODULE, KERNEL, {"reqd_work_group_size": (8, 1, 1)})
    text = parsed(llvm14_text.add_loop_metadata(text, 2))
    assert text.count("!llvm.loop !") == 1
    assert "i32 8, i32 1, i32 1" in text


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(ValueError, match="no function nothing"):
        llvm14_text.add_noalias(MODULE, "nothing")
