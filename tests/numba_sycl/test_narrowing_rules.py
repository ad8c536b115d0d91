"""Each rule of narrowing proved by exhaustion, at widths so small that all numbers can be tried."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from llvm_interpreter import Machine, Undefined, _exact, signed

from numba_sycl.narrow import function_text, intervals, narrowing, spellings
from numba_sycl.narrow.function_text import Function, meet, outcome, where
from numba_sycl.narrow.llvm_line import LlvmInstruction
from numba_sycl.narrow.spellings import plainly

#: Bits in the place of 64 and 32; arrays have fewer elements than BOUND, as they have fewer than 2**30.
WIDE, NARROW, BOUND = 8, 4, 4
COMPARISONS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
OPERATIONS = ("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "sdiv", "srem", "udiv", "urem")


def with_widths(monkeypatch: pytest.MonkeyPatch, wide: int, narrow: int) -> None:
    for module in (function_text, intervals):
        monkeypatch.setattr(module, "ALL", function_text.range_of(wide))
    for module in (function_text, spellings):
        monkeypatch.setattr(module, "WIDE", wide)
    monkeypatch.setattr(narrowing, "NARROW", narrow)
    monkeypatch.setattr(narrowing, "BOUND", 1 << (narrow - 2))


def ranges(width: int) -> list[tuple[int, int]]:
    low, high = function_text.range_of(width)
    return [(a, b) for a in range(low, high + 1) for b in range(a, high + 1)]


def result(kind: str, op: str, a: int, b: int, width: int) -> int | None:
    """What an operation gives; None where it has no meaning."""
    text = {
        "binary": f"{op} i64 {a}, {b}",
        "extremum": f"call i64 @llvm.{op}.i64(i64 {a}, i64 {b})",
        "saturated": f"call i64 @llvm.{op}.sat.i64(i64 {a}, i64 {b})",
    }[kind]
    try:
        (found,) = Machine({}, {64: width}, 0).run([f"%x = {text}", "store i64 %x, ptr %out"])
    except Undefined:
        return None
    return int(found)


@pytest.mark.parametrize(
    ("kind", "op"),
    [
        *(("binary", op) for op in OPERATIONS),
        *(("extremum", op) for op in ("smin", "smax", "umin", "umax")),
        *(("saturated", op) for op in ("sadd", "ssub")),
    ],
)
def test_the_interval_of_an_operation_has_all_its_results(kind: str, op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    width = 4
    with_widths(monkeypatch, width, 2)
    low, high = function_text.range_of(width)
    numbers = range(low, high + 1)
    table = [[result(kind, op, a, b, width) for b in numbers] for a in numbers]
    lowest = np.array([[high if one is None else one for one in row] for row in table])
    highest = np.array([[low if one is None else one for one in row] for row in table])
    one = LlvmInstruction("", "", "%x", kind, op, ["%a", "%b"])
    for (a, b), (c, d) in itertools.product(ranges(width), repeat=2):
        found = function_text.TRANSFER[kind](one, [(a, b), (c, d)])
        place = slice(a - low, b - low + 1), slice(c - low, d - low + 1)
        assert found[0] <= lowest[place].min()
        assert highest[place].max() <= found[1]


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons_say_what_holds_of_both_sides(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    width = 3
    with_widths(monkeypatch, width, 2)

    def holds(x: int, y: int) -> bool:
        (found,) = Machine({}, {64: width}, 0).run([f"%x = icmp {op} i64 {x}, {y}", "use i1 %x"])
        return bool(found)

    low, high = function_text.range_of(width)
    table = {(x, y): holds(x, y) for x in range(low, high + 1) for y in range(low, high + 1)}
    for left, right in itertools.product(ranges(width), repeat=2):
        pairs = [*itertools.product(range(left[0], left[1] + 1), range(right[0], right[1] + 1))]
        answer = outcome(op, left, right)
        assert answer is None or all(table[pair] == answer for pair in pairs)
        known = meet(left, where(left, op, right))
        assert all(known[0] <= x <= known[1] for x, y in pairs if table[x, y])


SIGNED, POSITIVE, ALMOST, NARROWS = (-4, 4), (0, 4), (-3, 4), (-8, 7)
OPERANDS = ("%a = {} i64 %n, %m", "%a = {} i64 %n, 3", "%a = {} i64 %n, 1", "%a = {} i64 -2, %m", "%a = {} i64 %n, 6")
STORED = ("store i64 %a, ptr %out",)
LOADED = ("%e = getelementptr inbounds i8, ptr %p, i64 %i", "%v = load i8, ptr %e", "store i8 %v, ptr %out")
#: By name, lines of a block.
PROGRAMS: dict[str, tuple[str, ...]] = {
    **{f"{op} {at}": (text.format(op), *STORED) for op in OPERATIONS for at, text in enumerate(OPERANDS)},
    **{
        f"{op} of sums {at}": (
            "%s = add i64 %n, %m",
            "%d = sub i64 %n, %m",
            text.replace("%n", "%s").replace("%m", "%d").format(op),
            *STORED,
        )
        for op in OPERATIONS
        for at, text in enumerate(OPERANDS)
    },
    **{
        f"{op} cut": (
            "%b = mul i64 %n, %m",
            f"%a = {op} i64 %b, 3",
            "%c = trunc i64 %a to i32",
            "store i32 %c, ptr %out",
        )
        for op in OPERATIONS
    },
    **{
        f"{op} twice": (f"%a = call i64 @llvm.{op}.i64(i64 %n, i64 %m)", *STORED)
        for op in ("smin", "smax", "umin", "umax", "sadd.sat", "ssub.sat")
    },
    **{
        f"{op} {at}": (*before, f"%c = icmp {op} i64 {left}, {right}", "use i1 %c")
        for op in COMPARISONS
        for at, (before, left, right) in enumerate(
            (
                ((), "%n", "%m"),
                ((), "%n", "2"),
                ((), "%n", "8"),
                (("%s = add i64 %n, %m",), "%s", "%n"),
                *((("%s = add i64 %n, %m",), "%s", str(end)) for end in range(-9, 9)),
                *(
                    (("%s = add i64 %n, %m", "%t = add i64 %s, %m", "%u = add i64 %s, %t"), "%u", str(end))
                    for end in (-9, -8, 7, 8)
                ),
            )
        )
    },
    "select": ("%c = icmp slt i64 %n, %m", "%a = select i1 %c, i64 %n, i64 7", *STORED),
    "freeze": ("%b = add i64 %n, %m", "%a = freeze i64 %b", *STORED),
    "index": ("%b = mul i64 %n, %m", "%i = add i64 %b, %n", *LOADED),
    "index of a difference": ("%b = sub i64 %n, %m", "%i = mul i64 %b, %b", *LOADED),
    "index from the end": (
        *("%s = sub i64 %n, %m", "%k = mul i64 %s, %m", "%c = icmp slt i64 %k, 0"),
        *("%w = select i1 %c, i64 3, i64 0", "%i = add i64 %w, %k", *LOADED),
    ),
    "index that wraps around": (
        *("%s = mul i64 %n, 77", "%k = mul i64 %s, %m", "%c = icmp slt i64 %k, 0"),
        *("%w = select i1 %c, i64 3, i64 0", "%i = add i64 %w, %k", *LOADED),
    ),
    **{
        f"index from the end in two steps, {first} first": (
            *("%s = sub i64 %n, %m", "%k = mul i64 %s, %m", f"%c = icmp {test}", f"%w = select i1 %c, i64 {chosen}"),
            f"%q = getelementptr inbounds i8, ptr %p, i64 %{first}",
            f"%e = getelementptr inbounds i8, ptr %q, i64 %{second}",
            *("%v = load i8, ptr %e", "store i8 %v, ptr %out"),
        )
        for first, second, test, chosen in (
            ("k", "w", "slt i64 %k, 0", "3, i64 0"),
            ("w", "k", "sgt i64 %k, -1", "0, i64 3"),
        )
    },
    "index from the end, extended": (
        *("%t = trunc i64 %n to i32", "%k = sext i32 %t to i64", "%c = icmp slt i32 %t, 0"),
        *("%w = select i1 %c, i64 3, i64 0", "%i = add i64 %w, %k", *LOADED),
    ),
    "index from the end, extended, in two steps": (
        *("%t = trunc i64 %n to i32", "%k = sext i32 %t to i64", "%c = icmp slt i32 %t, 0"),
        *("%w = select i1 %c, i64 3, i64 0", "%q = getelementptr inbounds i8, ptr %p, i64 %w"),
        *("%e = getelementptr inbounds i8, ptr %q, i64 %k", "%v = load i8, ptr %e", "store i8 %v, ptr %out"),
    ),
    "index from the end of a power of two": (
        *("%s = sub i64 %n, %m", "%k = mul i64 %s, %m", "%g = lshr i64 %k, 6", "%w = and i64 %g, 2"),
        *("%i = add i64 %w, %k", *LOADED),
    ),
    "three steps and a constant": (
        *("%b = mul i64 %n, %m", "%q = getelementptr inbounds i8, ptr %p, i64 %b"),
        *("%r = getelementptr inbounds i8, ptr %q, i64 %m", "%t = getelementptr inbounds i8, ptr %r, i64 %n"),
        *("%e = getelementptr inbounds i8, ptr %t, i64 -1", "%v = load i8, ptr %e", "store i8 %v, ptr %out"),
    ),
    **{
        f"index of a constant {step}": ("%b = mul i64 %n, %m", f"%i = add i64 %b, {step}", *LOADED)
        for step in (-2, -1, 1, 2)
    },
    **{
        f"{op} of a sum of 5 bits": ("%s = add i64 %n, %m", f"%a = call i64 @llvm.{op}.i64(i64 %s, i64 3)", *STORED)
        for op in ("smin", "smax")
    },
    "index of a mask": ("%b = mul i64 %n, 77", "%i = and i64 %b, 3", *LOADED),
    "two steps": (
        *("%b = shl i64 %m, 1", "%q = getelementptr inbounds i8, ptr %p, i64 %b"),
        *("%e = getelementptr inbounds i8, ptr %q, i64 %n", "%v = load i8, ptr %e", "store i8 %v, ptr %out"),
    ),
}


def meaning(lines: list[str], n: int, m: int) -> list[Any] | None:
    try:
        return Machine({"%n": n, "%m": m}, {64: WIDE, 32: NARROW}, BOUND - 1).run(lines)
    except Undefined:
        return None


@pytest.mark.parametrize("known", [(SIGNED, SIGNED), (POSITIVE, POSITIVE), (ALMOST, SIGNED), (NARROWS, NARROWS)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_narrowed_program_means_the_same(
    name: str, known: tuple[tuple[int, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_widths(monkeypatch, WIDE, NARROW)
    body = ["entry:", *(f"  {line}" for line in PROGRAMS[name]), "  ret void"]
    head = "define void @f(i64 noundef %n, i64 noundef %m, ptr noundef %p, ptr %out) {"
    function = Function(head, plainly(body, {"%p": "i8"}))
    assert not [line for line in function.unknown.splitlines() if not line.startswith("  use ")]
    text = narrowing.narrowed(function, {"%n": known[0], "%m": known[1]}, {"%p": "i8"})
    meant = 0
    for n, m in itertools.product(*(range(low, high + 1) for low, high in known)):
        before = meaning(body, n, m)
        if before is not None:
            assert meaning(text.splitlines(), n, m) == before, (n, m, text)
            meant += 1
    assert meant > 3 or "div" in name or "rem" in name


def test_the_interpreter_knows_what_has_no_meaning() -> None:
    assert [_exact("sdiv", -7, 2, 4), _exact("srem", -7, 2, 4), _exact("lshr", -1, 1, 4)] == [-3, -1, 7]
    assert signed(8, 4) == -8
    for text in ("add nsw i64 7, 1", "add nuw i64 -1, 1", "shl i64 1, 4", "sdiv i64 1, 0", "ashr exact i64 3, 1"):
        assert meaning([f"%x = {text}".replace("i64", "i32"), "store i32 %x, ptr %out"], 0, 0) is None
