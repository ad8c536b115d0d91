"""Lines of LLVM's text are taken apart, and one that is not understood says so."""

from __future__ import annotations

import pytest

from numba_sycl.narrow.function_text import Function
from numba_sycl.narrow.llvm_line import read_line, split


@pytest.mark.parametrize(
    ("line", "kind", "op", "operands"),
    [
        ("%a = add nuw nsw i64 %b, -3", "binary", "add", ["%b", "-3"]),
        ("%a = or disjoint i64 %b, 1, !note !7", "binary", "or", ["%b", "1"]),
        ("%a = select i1 %c, i64 0, i64 %b", "select", "select", ["0", "%b"]),
        ("%a = icmp samesign ult i64 %b, 8", "comparison", "ult", ["%b", "8"]),
        ("%a = trunc nuw i64 %b to i8", "truncation", "trunc", ["%b"]),
        ("%a = zext nneg i32 %b to i64", "extension", "zext", []),
        ("%a = uitofp nneg i64 %b to half", "to_float", "uitofp", ["%b"]),
        ("%a = phi i64 [ 0, %one ], [ poison, %two ]", "phi", "phi", ["0", "poison"]),
        (
            "%a = tail call i64 @llvm.smax.i64(i64 range(i64 0, 9) %b, i64 7) #3",
            "extremum",
            "smax",
            ["%b", "7"],
        ),
        ("%a = call i64 @llvm.ssub.sat.i64(i64 %b, i64 1)", "saturated", "ssub", ["%b", "1"]),
        ("%a = getelementptr inbounds nuw [4 x float], ptr addrspace(3) %p, i64 0, i64 %b", "gep", "gep", ["0", "%b"]),
        ("%a = getelementptr float, float addrspace(1)* %p, i64 %b", "gep", "gep", ["%b"]),
        ("%a = and i1 %b, %c", "conjunction", "conjunction", ["%b", "%c"]),
        ("%a = select i1 %b, i1 %c, i1 false", "conjunction", "conjunction", ["%b", "%c"]),
        ("%a = call spir_func noundef i64 @_Z13get_global_idj(i32 noundef 0) #2", "id", "", []),
        ("%a = add <2 x i64> %b, <i64 1, i64 2>", "other", "", []),
        ("%a = sext <2 x i32> %b to <2 x i64>", "other", "", []),
        ("%a = icmp eq ptr addrspace(1) %b, null", "other", "", []),
        ("%a = load i64, ptr addrspace(1) %p, align 8", "other", "", []),
        ("br i1 %a, label %b, label %c", "branch", "", []),
    ],
)
def test_a_line_is_taken_apart(line: str, kind: str, op: str, operands: list[str]) -> None:
    one = read_line(f"  {line}", "entry")
    assert (one.kind, one.op, one.operands) == (kind, op, operands)
    assert one.result == ("%a" if " = " in line else "")


@pytest.mark.parametrize(
    "line",
    [
        "%a = add novel i64 %b, 1",
        "%a = add i64 %b, ptrtoint (ptr @x to i64)",
        "%a = icmp novel slt i64 %b, 1",
        "%a = select i1 %c, i64 undef, i64 %b",
        "%a = zext novel i32 %b to i64",
        "%a = phi i64 [ ptrtoint (ptr @x to i64), %one ]",
        "%a = call i64 @llvm.umin.i64(i64 %b, i64 undef)",
        "%a = novel i64 %b",
        "novel void",
    ],
)
def test_a_line_that_is_not_understood_prevents_any_proof(line: str) -> None:
    body = ["entry:", "  %b = add i64 %n, 1", f"  {line}", "  ret void"]
    assert Function("define spir_kernel void @f(i64 noundef %n) {", body).unknown == f"  {line}"


def test_a_switch_leads_to_its_blocks() -> None:
    lines = ["entry:", "  switch i64 %n, label %d [", "    i64 1, label %a", "    i64 2, label %b", "  ]", "a:"]
    function = Function("define void @f(i64 %n) {", lines)
    assert dict(function.predecessors) == {block: ["entry"] for block in "dab"}
    assert not function.unknown
    assert function.instructions[-1].block == "a"


def test_commas_in_brackets_separate_nothing() -> None:
    assert split("{ i64, [2 x i64] } %a, i64 %b, align 8") == ["{ i64, [2 x i64] } %a", "i64 %b", "align 8"]
