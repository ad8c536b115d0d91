"""Index arithmetic in 32 bits: the same numbers within the bound, and the other module for launches beyond it."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

from xebench import kernel
from xebench import kernel_api as kapi
from xebench.dpex import ArgumentError, PreparedLaunch, build, compile_kernel
from xebench.dpex.kernel_store import KernelStore
from xebench.dpex.narrow import BOUND
from xebench.dpex.narrow.function_text import Function
from xebench.dpex.narrow.intervals import ALL, Intervals
from xebench.dpex.narrow.module import narrow_module
from xebench.dpex.narrow.narrowing import narrowed
from xebench.runtime.tensor import tensor as dpt

ENDS = (-BOUND, -BOUND + 1, -4097, -1, 0, 1, 7, 1 << 15, 1 << 29, BOUND - 1, BOUND)
SPACE = kapi.NdRange((8,), (4,))


@kernel
def arithmetic(item: kapi.NdItem, a: Any, b: Any, n: Any, out: Any) -> None:
    i = item.get_global_id(0)
    out[i, 0] = a + b + i
    out[i, 1] = a * b + n
    out[i, 2] = (a + i) // 7 + (b - i) % 7
    out[i, 3] = 1 if a * b + i < n else 0
    out[i, 4] = 1 if a + b + n > i else 0
    out[i, 5] = max(a + b, n) - min(a - b, n)
    out[i, 6] = ((a + i) << 3) >> 2
    out[i, 7] = (a + b + n) & 0xFFFF
    out[i, 8] = np.int64(np.float64(a + b + n + i))
    out[i, 9] = abs(a - b) % (abs(n) + 1)
    out[i, 10] = (a ^ b) | i
    out[i, 11] = np.int64(np.uint64(a) >> np.uint64(3))


@kernel
def loops(item: kapi.NdItem, start: Any, stop: Any, step: Any, out: Any) -> None:
    i = item.get_global_id(0)
    at = 0
    for number in range(start + i, stop, step):
        if at == 4:
            break
        out[i, at] = number
        at = at + 1
    doubled, rounds = i + 1, 0
    while doubled < stop and rounds < 40:
        doubled *= 2
        rounds += 1
    out[i, 4], out[i, 5] = doubled, rounds
    total = 0
    for number in range(8):
        total = total * 1103515245 + start + number
    out[i, 6] = total
    last = stop
    for number in range(stop, stop - 20, -3):
        last = number
    out[i, 7] = last


@kernel
def places(item: kapi.NdItem, a: Any, x: Any, places_of: Any, table: Any, out: Any) -> None:
    i = item.get_global_id(0)
    n = x.shape[0]
    out[i, 0] = x[(a + i) - a]
    out[i, 1] = x[a * 4 + i - a * 4]
    out[i, 2] = x[n - 1 - i]
    out[i, 3] = x[-1 - i]
    out[i, 4] = x[places_of[i]]
    out[i, 5] = table[i // 4, (i + a * 0) % 4]
    out[i, 6] = 1 if n * 4 + i > BOUND else 0
    out[i, 7] = table[i % 2, 3 - i % 4] + table[-1, -1 - i % 4]


class Both:
    """A kernel's module and its narrowed module, prepared for arguments of some types; the last is the output."""

    def __init__(self, run: Any, *arguments: Any) -> None:
        compiled = compile_kernel(run, SPACE, arguments)
        assert compiled.narrow
        queue = arguments[-1].sycl_queue
        self._launches = [
            PreparedLaunch(build(module, queue), queue, SPACE, arguments) for module in (compiled, compiled.narrowed)
        ]

    def check(self, *arguments: Any) -> None:
        """Both leave the same numbers."""
        left = []
        for launch in self._launches:
            arguments[-1][...] = 0
            launch.rebind(arguments)
            launch.submit().wait()
            left.append(dpt.asnumpy(arguments[-1]).tolist())
        assert left[0] == left[1], arguments[:-1]


@pytest.mark.device
def test_arithmetic_is_that_of_64_bits_up_to_the_bound() -> None:
    out = dpt.zeros((8, 12), dtype="i8")
    both = Both(arithmetic, 1, 2, 3, out)
    for a, b, n in itertools.product(ENDS, ENDS, (-BOUND, -3, 0, 5, BOUND)):
        both.check(a, b, n, out)


@pytest.mark.device
def test_loops_are_those_of_64_bits_up_to_the_bound() -> None:
    out = dpt.zeros((8, 8), dtype="i8")
    both = Both(loops, 1, 2, 3, out)
    for start, stop in itertools.product(ENDS, ENDS):
        for step in (-BOUND, -(1 << 29), -5, -1, 1, 3, 1 << 29, BOUND):
            both.check(start, stop, step, out)


@pytest.mark.device
@pytest.mark.parametrize("extent", [16, (1 << 29) + 1, BOUND - 1])
def test_elements_are_the_same_in_arrays_up_to_the_bound(extent: int) -> None:
    """Arrays of such extents repeat one element, so that they need no memory."""
    x = dpt.broadcast_to(dpt.asarray([42]), (extent,)) if extent > 16 else dpt.arange(extent, dtype="i8")
    table, out = dpt.reshape(dpt.arange(8, dtype="i8"), (2, 4)), dpt.zeros((8, 8), dtype="i8")
    given = (x, dpt.asarray([0, 3, 7, 1, -1, 2, -2, 5]), table, out)
    both = Both(places, 1, *given)
    for a in ENDS:
        both.check(a, *given)


@pytest.mark.device
def test_a_launch_beyond_the_bound_takes_the_other_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XEBENCH_NARROW", "on")
    stores, x = [KernelStore()], dpt.zeros((8, 12), dtype="i8")
    queue = x.sycl_queue

    def used(run: Any, *arguments: Any) -> list[bool]:
        store = stores[-1]
        store.submit(run, queue, SPACE, arguments).wait()
        return [kernel["narrow"] for kernel in store.take_used()]

    for a, narrow in ((1, True), (BOUND, True), (BOUND + 1, False), (2, True), (-BOUND - 1, False)):
        assert used(arithmetic, a, 3, 4, x) == [narrow]
        assert int(x[1, 1]) == a * 3 + 4
    row, out = dpt.reshape(dpt.arange(8, dtype="i8"), (2, 4)), dpt.zeros((8, 8), dtype="i8")
    for extent, narrow in ((BOUND - 1, True), (BOUND, False), ((1 << 31) + 5, False)):
        long = dpt.broadcast_to(dpt.asarray([42]), (extent,))
        assert used(places, 1, long, dpt.zeros(8, dtype="i8"), row, out) == [narrow]
        assert dpt.asnumpy(out)[3, [2, 3, 6]].tolist() == [42, 42, 1]
    monkeypatch.setenv("XEBENCH_NARROW", "")
    stores.append(KernelStore())
    assert used(arithmetic, 1, 3, 4, x) == [False]


@pytest.mark.device
def test_narrowed_code_refuses_what_it_is_not_for() -> None:
    x = dpt.zeros((8, 12), dtype="i8")
    compiled = compile_kernel(arithmetic, SPACE, (1, 2, 3, x)).narrowed
    launch = PreparedLaunch(build(compiled, x.sycl_queue), x.sycl_queue, SPACE, (1, 2, 3, x))
    with pytest.raises(ArgumentError, match="kernel arithmetic: these arguments are beyond what its code"):
        launch.rebind((1, BOUND + 1, 3, x))


HEAD = "define spir_kernel void @f(i64 noundef %n, i64 noundef %m, ptr addrspace(1) noundef %p) {"


def intervals(*body: str) -> Intervals:
    lines = ["entry:", *(line if line.endswith(":") else f"  {line}" for line in body), "  ret void"]
    return Intervals(Function(HEAD, lines), {"%n": (0, BOUND - 1), "%m": (-BOUND, BOUND)})


def test_what_may_overflow_is_anything() -> None:
    found = intervals("%a = mul i64 %n, %m", "%b = mul nsw i64 %a, %a", "%c = shl i64 %n, 40", "%d = lshr i64 %m, 1")
    assert found.of("%a") == (-BOUND * (BOUND - 1), BOUND * (BOUND - 1))
    assert found.of("%b") == found.of("%c") == ALL
    assert found.of("%d") == (0, (1 << 63) - 1)


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        (("%more = icmp slt i64 %next, %n", "br i1 %more, label %loop, label %end"), (0, BOUND - 2)),
        (("%more = icmp sgt i64 %n, %next", "br i1 %more, label %loop, label %end"), (0, BOUND - 2)),
        (("%stop = icmp eq i64 %next, %n", "br i1 %stop, label %end, label %loop"), ALL),
        (("%more = icmp slt i64 %next, %n", "br i1 %more, label %end, label %loop"), (0, ALL[1])),
        (("%more = icmp slt i64 %m, %n", "br i1 %more, label %loop, label %end"), ALL),
    ],
)
def test_a_counter_is_bounded_by_what_it_is_compared_with(loop: tuple[str, ...], expected: tuple[int, int]) -> None:
    body = ("br label %loop", "loop:", "%k = phi i64 [ 0, %entry ], [ %next, %loop ]", "%next = add i64 %k, 1")
    assert intervals(*body, *loop, "end:").of("%k") == expected


def test_a_counter_to_a_stop_that_it_meets_is_bounded() -> None:
    body = (
        *("%some = icmp sgt i64 %n, 0", "br i1 %some, label %loop, label %end", "loop:"),
        *("%k = phi i64 [ 0, %entry ], [ %next, %loop ]", "%next = add i64 %k, 1"),
        *("%stop = icmp eq i64 %next, %n", "br i1 %stop, label %end, label %loop", "end:"),
    )
    assert intervals(*body).of("%k") == (0, BOUND - 2)


def test_a_counter_to_a_stop_that_moves_is_anything() -> None:
    body = (
        *("%some = icmp sgt i64 %n, 0", "br i1 %some, label %loop, label %end", "loop:"),
        *("%k = phi i64 [ 0, %entry ], [ %next, %loop ]", "%next = add i64 %k, 1"),
        *("%at = getelementptr i64, ptr addrspace(1) %p, i64 %k", "%found = load i64, ptr addrspace(1) %at, align 8"),
        *("%moves = and i64 %found, 7", "%far = add i64 %moves, 1"),
        *("%stop = icmp eq i64 %next, %far", "br i1 %stop, label %end, label %loop", "end:"),
    )
    assert intervals(*body).of("%k") == ALL


def test_elements_of_arrays_with_strides_need_all_bits() -> None:
    @kernel
    def first(item: kapi.NdItem, x: Any, out: Any) -> None:
        out[item.get_global_id(0)] = x[item.get_global_id(0) * 24]

    for step, narrow in ((1, "= mul i32 "), (2, "= mul [a-z ]*i64 ")):
        arguments = (dpt.zeros(512, dtype="i1")[::step], dpt.zeros(8, dtype="i1"))
        compiled = compile_kernel(first, SPACE, arguments)
        text = narrow_module(compiled.llvm_ir or "", compiled.name, compiled.signature)
        assert text is not None and re.search(narrow, text)


def test_low_bits_are_enough_for_an_element_only() -> None:
    body = ["entry:", "  %a = mul i64 %n, %m", "  %e = getelementptr i32, ptr addrspace(1) %p, i64 %a"]
    known = {"%n": (0, BOUND - 1), "%m": (-BOUND, BOUND)}
    load = ["  %v = load i32, ptr addrspace(1) %e, align 4", "  ret void"]
    assert "mul i32" in narrowed(HEAD, body + load, known, {"%p": "i32"})
    for wrong in (
        ["  %q = getelementptr i32, ptr addrspace(1) %e, i64 -5"],
        ["  %c = icmp slt i64 %a, %n"],
        ["  store i64 %a, ptr addrspace(1) %p, align 8"],
        ["  %i = ptrtoint ptr addrspace(1) %e to i64"],
    ):
        assert "mul i64" in narrowed(HEAD, body + wrong + load, known, {"%p": "i32"})
    assert "mul i64" in narrowed(HEAD, body + load, known, {"%p": "i8"})
