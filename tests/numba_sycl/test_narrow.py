"""Index arithmetic in 32 bits: the same numbers within the bound, and the other module for launches beyond it."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

from numba_sycl import ArgumentError, PreparedLaunch, build, compile_kernel, device_func, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.kernel_store import KernelStore
from numba_sycl.narrow import BOUND
from numba_sycl.narrow.function_text import ALL, Function
from numba_sycl.narrow.intervals import Intervals
from numba_sycl.narrow.module import narrow_module
from numba_sycl.narrow.narrowing import narrowed
from numba_sycl.tensor import tensor as dpt

#: Of 32 bits: their sign is known of no argument.
ENDS = tuple(np.int32(end) for end in (-(1 << 31), -BOUND, -4097, -1, 0, 1, 7, 1 << 15, 1 << 29, BOUND, (1 << 31) - 1))
SPACE = kapi.NdRange((8,), (4,))


@device_func
def arithmetic(i: Any, a: Any, b: Any, n: Any, out: Any) -> None:
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


@device_func
def loops(i: Any, start: Any, stop: Any, step: Any, out: Any) -> None:
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


@device_func
def places(i: Any, a: Any, x: Any, places_of: Any, table: Any, out: Any) -> None:
    n = x.shape[0]
    out[i, 0] = x[(a + i) - a]
    out[i, 1] = x[a * 4 + i - a * 4]
    out[i, 2] = x[n - 1 - i]
    out[i, 3] = x[-1 - i]
    out[i, 4] = x[places_of[i]]
    out[i, 5] = table[i // 4, (i + a * 0) % 4]
    out[i, 6] = 1 if n * 4 + i > BOUND else 0
    out[i, 7] = table[i % 2, 3 - i % 4] + table[-1, -1 - i % 4]


@device_func
def sums(i: Any, a: Any, b: Any, out: Any) -> None:
    out[i, 0] = 1 if a + b > 10 else 0
    out[i, 1] = 1 if a + b > 11 else 0
    out[i, 2] = 1 if a + b < -4097 else 0
    out[i, 3] = 1 if a + b < -4096 else 0
    out[i, 4] = 1 if a + b > (1 << 31) else 0
    out[i, 5] = 1 if a + b < 1 - (1 << 32) else 0
    out[i, 6] = 1 if a + b >= 0 else 0
    out[i, 7] = a + b if a + b <= -1 else b - a


@kernel
def arithmetic_of_arguments(item: kapi.NdItem, a: Any, b: Any, n: Any, out: Any) -> None:
    arithmetic(item.get_global_id(0), a, b, n, out)


@kernel
def arithmetic_of_elements(item: kapi.NdItem, numbers: Any, n: Any, out: Any) -> None:
    arithmetic(item.get_global_id(0), numbers[0], numbers[1], n, out)


@kernel
def loops_of_arguments(item: kapi.NdItem, start: Any, stop: Any, step: Any, out: Any) -> None:
    loops(item.get_global_id(0), start, stop, step, out)


@kernel
def loops_of_elements(item: kapi.NdItem, numbers: Any, out: Any) -> None:
    loops(item.get_global_id(0), numbers[0], numbers[1], numbers[2], out)


@kernel
def places_of_argument(item: kapi.NdItem, a: Any, x: Any, places_of: Any, table: Any, out: Any) -> None:
    places(item.get_global_id(0), a, x, places_of, table, out)


@kernel
def places_of_element(item: kapi.NdItem, numbers: Any, x: Any, places_of: Any, table: Any, out: Any) -> None:
    places(item.get_global_id(0), numbers[0], x, places_of, table, out)


@kernel
def sums_of_elements(item: kapi.NdItem, numbers: Any, out: Any) -> None:
    sums(item.get_global_id(0), numbers[0], numbers[1], out)


def elements(*numbers: Any) -> Any:
    return dpt.asarray(np.array(numbers, np.int32))


class Both:
    """A kernel's module and its narrowed module, prepared for arguments of some types; the last is the output."""

    def __init__(self, run: Any, *arguments: Any) -> None:
        compiled = compile_kernel(run, SPACE, arguments)
        assert compiled.narrow
        queue = arguments[-1].sycl_queue
        limit = abs(compiled.limit)
        #: 64-bit arguments of launches that may take the narrowed module.
        self.numbers = (0, 1, 7, 4097, limit // 2, limit - 1, limit)
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
    both = Both(arithmetic_of_arguments, 1, 2, 3, out)
    for a, b, n in itertools.product(both.numbers, both.numbers, both.numbers[::3]):
        both.check(a, b, n, out)
    signed = Both(arithmetic_of_elements, elements(1, 2), 3, out)
    for a, b, n in itertools.product(ENDS, ENDS, signed.numbers[::3]):
        signed.check(elements(a, b), n, out)


@pytest.mark.device
def test_a_sum_that_needs_33_bits_compares_by_its_half() -> None:
    out = dpt.zeros((8, 8), dtype="i8")
    compiled = compile_kernel(sums_of_elements, SPACE, (elements(1, 2), out))
    text, _ = narrow_module(compiled.llvm_ir or "", compiled.name, compiled.signature)
    assert len(re.findall(r"ashr i32", text)) == len(re.findall(r"%short\.\w+\.half = ", text)) >= 5
    both = Both(sums_of_elements, elements(1, 2), out)
    near = [np.int32(number) for number in (-4096, -2049, -2048, 4, 5, 6, 11, 12)]
    for a, b in itertools.product((*ENDS, *near), repeat=2):
        both.check(elements(a, b), out)


@pytest.mark.device
def test_loops_are_those_of_64_bits_up_to_the_bound() -> None:
    out = dpt.zeros((8, 8), dtype="i8")
    both = Both(loops_of_arguments, 1, 2, 3, out)
    for start, stop in itertools.product(both.numbers, both.numbers):
        for step in (1, 3, both.numbers[-1] // 2, both.numbers[-1]):
            both.check(start, stop, step, out)
    signed = Both(loops_of_elements, elements(1, 2, 3), out)
    for first, end in itertools.product(ENDS, ENDS):
        for stride in map(np.int32, (-BOUND, -(1 << 29), -5, -1, 1, 3, 1 << 29, BOUND)):
            signed.check(elements(first, end, stride), out)


@pytest.mark.device
@pytest.mark.parametrize("extent", [16, (1 << 29) + 1, BOUND - 1])
def test_elements_are_the_same_in_arrays_up_to_the_bound(extent: int) -> None:
    """Arrays of such extents repeat one element, so that they need no memory."""
    x = dpt.broadcast_to(dpt.asarray([42]), (extent,)) if extent > 16 else dpt.arange(extent, dtype="i8")
    table, out = dpt.reshape(dpt.arange(8, dtype="i8"), (2, 4)), dpt.zeros((8, 8), dtype="i8")
    given = (x, dpt.asarray([0, 3, 7, 1, -1, 2, -2, 5]), table, out)
    both = Both(places_of_argument, 1, *given)
    for a in both.numbers:
        both.check(a, *given)
    signed = Both(places_of_element, elements(1), *given)
    for end in ENDS:
        signed.check(elements(end), *given)


@kernel
def neighbours(item: kapi.NdItem, x: Any, table: Any, one: Any, far: Any, out: Any) -> None:
    i = item.get_global_id(0)
    out[i, 0] = x[i + 1] - x[i - 1]
    out[i, 1] = table[i % 3 - 1, 1 - i % 4] + table[-1 - i % 3, i % 4]
    out[i, 2] = one[()] * i
    for k in range(3, -1, -1):
        out[i, 3] += x[i - k] * table[1, k]
        out[i, 4] += table[i % 3, 3 - k] * x[k - i]
    out[i, 5] = x[far[0] + i + far[1]]
    out[i, 6] = table[1 - i % 2, far[1] + i % 4 + far[0]]
    out[i, 7] = far[i % 2]


@pytest.mark.device
@pytest.mark.parametrize(
    "view",
    [
        lambda x: (x, dpt.reshape(x[:12], (3, 4))),
        lambda x: (x[3:], dpt.reshape(x[20:32], (3, 4))),
        lambda x: (x[::-1], dpt.reshape(x[:12], (4, 3)).T),
        lambda x: (x[30:2:-2], dpt.reshape(x[:24], (3, 8))[::-1, ::-2]),
        lambda x: (dpt.reshape(x, (2, 16))[1], dpt.reshape(x, (4, 2, 4))[1:, 1, :]),
    ],
    ids=["contiguous", "offset", "reversed and transposed", "negative steps", "of other shapes"],
)
def test_steps_of_an_address_are_those_of_64_bits_in_every_view(view: Any) -> None:
    x = dpt.asarray(np.random.default_rng(3).integers(-99, 99, 32))
    given = (
        *view(x),
        dpt.reshape(dpt.asarray([7]), ()),
        dpt.asarray([1 << 40, -(1 << 40)]),
        dpt.zeros((8, 8), dtype="i8"),
    )
    Both(neighbours, *given).check(*given)


@pytest.mark.device
def test_the_sign_of_a_loaded_index_takes_no_comparison() -> None:
    @kernel
    def gather(item: kapi.NdItem, places: Any, x: Any, out: Any) -> None:
        out[item.get_global_id(0)] = x[places[item.get_global_id(0)]]

    arguments = dpt.zeros(8, dtype="i4"), dpt.zeros(16), dpt.zeros(8)
    compiled = compile_kernel(gather, SPACE, arguments)
    text, _ = narrow_module(compiled.llvm_ir or "", compiled.name, compiled.signature)
    assert text.count("call i32 @llvm.umin.i32(") == 1


@pytest.mark.device
def test_a_launch_beyond_the_bound_takes_the_other_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_SYCL_NARROW", "on")

    class Noting(KernelStore):
        """Notes whether each launch takes a narrowed module."""

        def _starts(self, launch: PreparedLaunch) -> None:
            noted.append(launch.device_kernel.compiled.bounded)

    noted: list[bool] = []
    stores, x = [Noting()], dpt.zeros((8, 12), dtype="i8")
    queue = x.sycl_queue

    def used(run: Any, *arguments: Any) -> list[bool]:
        noted.clear()
        stores[-1].submit(run, queue, SPACE, arguments).wait()
        return [*noted]

    limit = compile_kernel(arithmetic_of_arguments, SPACE, (1, 3, 4, x)).limit
    assert 1 << 24 <= abs(limit) <= BOUND
    most, signed = abs(limit), limit < 0
    for a, narrow in ((1, True), (most, True), (most + 1, False), (2, True), (-1, signed), (0, True)):
        assert used(arithmetic_of_arguments, a, 3, 4, x) == [narrow]
        assert int(x[1, 1]) == a * 3 + 4
    row, out = dpt.reshape(dpt.arange(8, dtype="i8"), (2, 4)), dpt.zeros((8, 8), dtype="i8")
    for extent, narrow in ((BOUND - 1, True), (BOUND, False), ((1 << 31) + 5, False)):
        long = dpt.broadcast_to(dpt.asarray([42]), (extent,))
        assert used(places_of_argument, 1, long, dpt.zeros(8, dtype="i8"), row, out) == [narrow]
        assert dpt.asnumpy(out)[3, [2, 3, 6]].tolist() == [42, 42, 1]
    monkeypatch.setenv("NUMBA_SYCL_NARROW", "off")
    stores.append(Noting())
    assert used(arithmetic_of_arguments, 1, 3, 4, x) == [False]


@pytest.mark.device
def test_narrowed_code_refuses_what_it_is_not_for() -> None:
    x = dpt.zeros((8, 12), dtype="i8")
    compiled = compile_kernel(arithmetic_of_arguments, SPACE, (1, 2, 3, x)).narrowed
    launch = PreparedLaunch(build(compiled, x.sycl_queue), x.sycl_queue, SPACE, (1, 2, 3, x))
    with pytest.raises(ArgumentError, match="kernel arithmetic_of_arguments: these arguments are beyond what its code"):
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


@pytest.mark.parametrize(
    ("stop", "step", "expected"),
    [
        ("%n", 1, (0, BOUND - 2)),
        ("%fourfold", 4, (0, 4 * (BOUND - 1) - 1)),
        ("128", 4, (0, 127)),
        ("126", 4, ALL),
        ("%n", 4, ALL),
        ("%fourfold", 8, ALL),
        ("%fourfold", 3, ALL),
        ("%fourfold", -4, ALL),
    ],
)
def test_a_counter_to_a_stop_that_it_meets_is_bounded(stop: str, step: int, expected: tuple[int, int]) -> None:
    body = (
        *("%fourfold = shl i64 %n, 2", f"%some = icmp sgt i64 {stop}, 0", "br i1 %some, label %loop, label %end"),
        *("loop:", "%k = phi i64 [ 0, %entry ], [ %next, %loop ]", f"%next = add i64 %k, {step}"),
        *(f"%stop = icmp eq i64 %next, {stop}", "br i1 %stop, label %end, label %loop", "end:"),
    )
    assert intervals(*body).of("%k") == expected


def test_a_counter_to_the_larger_of_its_start_and_a_stop_is_bounded() -> None:
    body = (
        *("%last = call i64 @llvm.smax.i64(i64 %m, i64 %n)", "br label %loop", "loop:"),
        *("%k = phi i64 [ %m, %entry ], [ %next, %loop ]", "%next = add i64 %k, 1"),
        *("%stop = icmp eq i64 %k, %last", "br i1 %stop, label %end, label %loop", "end:"),
    )
    assert intervals(*body).of("%k") == (-BOUND, BOUND)
    assert intervals(*(line.replace("smax", "umax") for line in body)).of("%k") == ALL
    assert intervals(*(line.replace("smax", "smin") for line in body)).of("%k") == ALL


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

    for step, narrow in ((1, "= mul nuw nsw i32 "), (2, "= mul [a-z ]*i64 ")):
        arguments = (dpt.zeros(512, dtype="i1")[::step], dpt.zeros(8, dtype="i1"))
        compiled = compile_kernel(first, SPACE, arguments)
        text, _ = narrow_module(compiled.llvm_ir or "", compiled.name, compiled.signature)
        assert re.search(narrow, text)


def test_low_bits_are_enough_for_an_element_only() -> None:
    body = ["entry:", "  %a = mul i64 %n, %m", "  %e = getelementptr i32, ptr addrspace(1) %p, i64 %a"]
    known = {"%n": (0, BOUND - 1), "%m": (-BOUND, BOUND)}
    load = ["  %v = load i32, ptr addrspace(1) %e, align 4", "  ret void"]
    assert "mul i32" in narrowed(Function(HEAD, body + load), known, {"%p": "i32"})
    for wrong in (
        ["  %q = getelementptr i32, ptr addrspace(1) %e, i64 -5"],
        ["  %c = icmp slt i64 %a, %n"],
        ["  store i64 %a, ptr addrspace(1) %p, align 8"],
        ["  %i = ptrtoint ptr addrspace(1) %e to i64"],
    ):
        assert "mul i64" in narrowed(Function(HEAD, body + wrong + load), known, {"%p": "i32"})
    assert "mul i64" in narrowed(Function(HEAD, body + load), known, {"%p": "i8"})


LOAD = ("%v = load i32, ptr addrspace(1) %e, align 4", "ret void")


def of_index(*body: str) -> str:
    """A narrowed function that loads the element at ``%i`` of ``%p``; ``%n`` and ``%m`` are not negative."""
    lines = ["entry:", *body, "%e = getelementptr i32, ptr addrspace(1) %p, i64 %i", *LOAD]
    known = {"%n": (0, BOUND - 1), "%m": (0, BOUND)}
    return narrowed(
        Function(HEAD, [line if line.endswith(":") else f"  {line}" for line in lines]), known, {"%p": "i32"}
    )


def test_nothing_is_proved_of_an_index_but_that_its_element_is_accessed() -> None:
    text = of_index("%s = sub i64 %n, %m", "%a = mul i64 %s, %m", "%i = add i64 %a, -7")
    assert "mul i32 %short.s, %short.m" in text
    assert " i64 " not in "".join(line for line in text.splitlines() if " = sub " in line or " = mul " in line)


def test_the_sign_of_an_index_is_that_of_its_low_bits() -> None:
    index = ("%s = sub i64 %n, %m", "%k = mul i64 %s, %m", "%c = icmp slt i64 %k, 0")
    wrapped = ("%w = select i1 %c, i64 %n, i64 0", "%i = add i64 %w, %k")
    assert "icmp slt i32 %short.k, 0" in of_index(*index, *wrapped)
    other_use = ("%z = zext i1 %c to i8", "store i8 %z, ptr addrspace(1) %p, align 1")
    assert "icmp slt i64 %k, 0" in of_index(*index, *wrapped, *other_use)
    masked = ("%w = select i1 %c, i64 %n, i64 0", "%j = add i64 %w, %k", "%i = and i64 %j, 1023")
    assert "icmp slt i64 %k, 0" in of_index(*index, *masked)


def test_what_stays_of_an_index_is_a_step_of_its_own() -> None:
    loop = ("br label %loop", "loop:", "%k = phi i64 [ 0, %entry ], [ %next, %loop ]", "%next = add i64 %k, 1")
    index = ("%j = shl i64 %k, 4", "%t = shl i64 %n, 8", "%i = add i64 %t, %j")
    rounds = ("%c = icmp slt i64 %next, 16", "br i1 %c, label %loop, label %end", "end:")
    text = of_index(*loop, *index, *rounds)
    assert "%short.e.step0 = getelementptr i32, ptr addrspace(1) %p, i64 %short.short.e.step0.index" in text
    assert "%short.short.e.step0.index = zext i32 %short.t to i64" in text
    assert "%e = getelementptr i32, ptr addrspace(1) %short.e.step0, i64 %short.e.index" in text


@pytest.mark.parametrize(("first", "within"), [(0, "inbounds "), (-1, "")])
def test_a_step_that_may_lead_beyond_an_array_is_not_said_to_be_within(first: int, within: str) -> None:
    body = (
        *("entry:", "br label %loop", "loop:", f"%k = phi i64 [ {first}, %entry ], [ %next, %loop ]"),
        *("%next = add i64 %k, 1", "%i = add i64 %n, %k", "%e = getelementptr inbounds i32, ptr %p, i64 %i"),
        *(
            "%v = load i32, ptr %e, align 4",
            "%c = icmp slt i64 %next, 16",
            "br i1 %c, label %loop, label %end",
            "end:",
            "ret void",
        ),
    )
    lines = [line if line.endswith(":") else f"  {line}" for line in body]
    text = narrowed(Function("define void @f(ptr %p, i64 %n) {", lines), {"%n": (0, 4096)}, {"%p": "i32"})
    assert f"%short.e.step0 = getelementptr {within}i32, ptr %p, i64 " in text


@kernel
def series(item: kapi.Item, totals: Any, terms: Any) -> None:
    total = np.int32(0)
    for i in range(terms):
        total = np.int32(total + i)  # LLVM needs no loop, but 33 bits
    totals[item.get_id(0)] = total


@kernel
def chain(item: kapi.Item, totals: Any, terms: Any) -> None:
    number = np.int8(1)
    if terms == 0:
        number = np.int8(3)
    elif terms == 1:
        number = np.int8(5)
    elif terms == 2:
        number = np.int8(17)
    elif terms == 3:
        number = np.int8(2)
    elif terms == 4:
        number = np.int8(9)  # LLVM needs no branches, but a table of 40 bits
    totals[item.get_id(0)] = number


@pytest.mark.parametrize(("kernel", "results"), [(series, [0, 0, 1, 3, 6, 10]), (chain, [3, 5, 17, 2, 9, 1])])
def test_numbers_have_widths_that_spirv_has(kernel: Any, results: list[int], queue: Any) -> None:
    totals = dpt.zeros(8, dtype="i4", sycl_queue=queue)
    compiled = compile_kernel(kernel, kapi.Range(8), (totals, 0))
    for module in (compiled.spirv, compiled.narrowed.spirv):
        words, at, widths = np.frombuffer(module, np.uint32), 5, set()
        while at < len(words):
            if words[at] & 0xFFFF == 21:  # OpTypeInt
                widths.add(int(words[at + 2]))
            at += words[at] >> 16
        assert widths <= {8, 16, 32, 64}
    for terms, result in enumerate(results):
        launch = PreparedLaunch(build(compiled, queue), queue, kapi.Range(8), (totals, terms))
        launch.submit().wait()
        assert dpt.asnumpy(totals).tolist() == [result] * 8


def test_branches_become_no_table_in_memory(queue: Any) -> None:
    """Kernels have no such memory: Intel's CPU driver crashes on it."""

    @kernel
    def look(item: kapi.Item, x: Any, out: Any) -> None:
        i = item.get_id(0)
        case = i % 8
        place = 0
        if case == 0:
            place = 21
        elif case == 2:
            place = 2
        elif case == 4:
            place = 7
        elif case == 5:
            place = 30
        elif case == 7:
            place = 11
        out[i] = x[place]

    x, out = (dpt.asarray(np.arange(32, dtype="i8"), sycl_queue=queue) for _ in range(2))
    compiled = compile_kernel(look, kapi.Range(32), (x, out))
    assert compiled.llvm_ir is not None
    assert " constant [" not in compiled.llvm_ir
    PreparedLaunch(build(compiled, queue), queue, kapi.Range(32), (x, out)).submit().wait()
    assert dpt.asnumpy(out).tolist() == [21, 0, 2, 0, 7, 30, 0, 11] * 4
