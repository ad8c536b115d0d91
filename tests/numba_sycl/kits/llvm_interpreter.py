"""Straight-line LLVM IR for integers of any two widths, in the place of ``i64`` and ``i32``.

A number is an int, with its sign. Poison is None: what an operation gives whose flags promise too much.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

_OPERATION: Final = re.compile(
    r"(?P<op>add|sub|mul|shl|lshr|ashr|and|or|xor|sdiv|srem|udiv|urem)(?P<flags>(?: \w+)*?) "
    r"i(?P<width>\d+) (?P<a>\S+), (?P<b>\S+)$"
)
_COMPARISON: Final = re.compile(r"icmp (?P<op>\w+) i(?P<width>\d+) (?P<a>\S+), (?P<b>\S+)$")
_SELECT: Final = re.compile(r"select i1 (?P<c>\S+), i(?P<width>\d+) (?P<a>\S+), i\d+ (?P<b>\S+)$")
_CONVERSION: Final = re.compile(r"(?P<op>trunc|sext|zext|freeze) i(?P<width>\d+) (?P<a>\S+?)(?: to i(?P<to>\d+))?$")
_CALL: Final = re.compile(
    r"call i(?P<width>\d+) @llvm\.(?P<op>\w+?)(?:\.sat)?\.i\d+\(i\d+ (?P<a>[^,]+), i\d+ (?P<b>[^)]+)\)$"
)
_ADDRESS: Final = re.compile(r"getelementptr (?P<flags>(?:\w+ )*?)i8, ptr (?P<base>\S+), i(?P<width>\d+) (?P<a>\S+)$")


class Undefined(Exception):
    """The program has no meaning: it uses poison, or accesses what is outside of the array."""


def signed(number: int, width: int) -> int:
    """The signed number of so many low bits."""
    half = 1 << (width - 1)
    return ((number + half) & (2 * half - 1)) - half


def _exact(op: str, a: int, b: int, width: int) -> int | None:
    """The mathematical result, or None where there is none."""
    mask = (1 << width) - 1
    if op in ("shl", "lshr", "ashr"):
        if not 0 <= b < width:
            return None
        return {"shl": a << b, "ashr": a >> b, "lshr": (a & mask) >> b}[op]
    if op in ("sdiv", "srem", "udiv", "urem"):
        x, y = (a & mask, b & mask) if op[0] == "u" else (a, b)
        if y == 0 or (op[0] == "s" and a == -(1 << (width - 1)) and b == -1):
            raise Undefined(op)
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if op.endswith("div") else x - quotient * y
    return {"add": a + b, "sub": a - b, "mul": a * b, "and": a & b, "or": a | b, "xor": a ^ b}[op]


def _keeps(op: str, flags: Collection[str], numbers: tuple[int, int, int], width: int) -> bool:
    """True if operands and their exact result are as flags promise."""
    (a, b, exact), mask = numbers, (1 << width) - 1
    x, y = a & mask, b & mask
    broken = {
        "nsw": lambda: exact != signed(exact, width),
        "nuw": lambda: {"add": x + y, "sub": y - x + mask, "mul": x * y, "shl": x << y}[op] > mask,
        "exact": lambda: (exact << b if op == "ashr" else exact * b) != a,
        "disjoint": lambda: bool(a & b),
    }
    return not any(broken[flag]() for flag in flags)


class Machine:
    """Runs the lines of a block.

    Args:
        values: of names.
        widths: of ``i64`` and ``i32``, by these numbers.
        elements: of the array ``%p``, of a byte each, whose element n is n.
    """

    def __init__(self, values: Mapping[str, Any], widths: Mapping[int, int], elements: int) -> None:
        self._values = {"%p": 0, **values}
        self._widths = widths
        self._elements = elements

    def run(self, lines: Iterable[str]) -> list[Any]:
        """What the lines store.

        Raises:
            Undefined: they have no meaning.
        """
        stored = []
        for line in (line.strip() for line in lines):
            name, equals, body = line.partition(" = ")
            if equals:
                self._values[name] = self._computed(body.replace("tail call", "call"))
            elif (match := re.match(r"store i\d+ (\S+), ptr %out", line)) or (match := re.match(r"use i1 (\S+)", line)):
                stored.append(self._defined(match[1]))
        return stored

    def _of(self, text: str) -> Any:
        return self._values[text] if text.startswith("%") else int(text)

    def _defined(self, text: str) -> Any:
        value = self._of(text)
        if value is None:
            raise Undefined(text)
        return value

    def _computed(self, body: str) -> Any:
        if match := re.match(r"load i8, ptr (\S+)", body):
            place = self._defined(match[1])
            if not 0 <= place < self._elements:
                raise Undefined(body)
            return place
        for pattern, step in (
            (_OPERATION, self._operation),
            (_COMPARISON, self._comparison),
            (_SELECT, self._select),
            (_CONVERSION, self._conversion),
            (_CALL, self._call),
            (_ADDRESS, self._address),
        ):
            if match := pattern.match(body):
                groups = match.groupdict()
                groups["width"] = self._widths.get(int(groups["width"]), int(groups["width"]))
                return step(groups)
        raise ValueError(body)

    def _pair(self, groups: Mapping[str, Any]) -> tuple[Any, Any, int]:
        return self._of(groups["a"]), self._of(groups["b"]), groups["width"]

    def _operation(self, groups: Mapping[str, Any]) -> int | None:
        a, b, width = self._pair(groups)
        if a is None or b is None:
            return None
        exact = _exact(groups["op"], a, b, width)
        if exact is None or not _keeps(groups["op"], groups["flags"].split(), (a, b, exact), width):
            return None
        return signed(exact, width)

    def _comparison(self, groups: Mapping[str, Any]) -> bool | None:
        a, b, width = self._pair(groups)
        if a is None or b is None:
            return None
        if groups["op"][0] == "u":
            a, b = a & ((1 << width) - 1), b & ((1 << width) - 1)
        order: dict[str, Callable[[int, int], bool]] = {
            "lt": int.__lt__,
            "le": int.__le__,
            "gt": int.__gt__,
            "ge": int.__ge__,
        }
        return (
            {"eq": a == b, "ne": a != b}.get(groups["op"])
            if groups["op"] in ("eq", "ne")
            else order[groups["op"][1:]](a, b)
        )

    def _select(self, groups: Mapping[str, Any]) -> Any:
        condition = self._of(groups["c"])
        return None if condition is None else self._of(groups["a"] if condition else groups["b"])

    def _conversion(self, groups: Mapping[str, Any]) -> Any:
        value, width = self._of(groups["a"]), groups["width"]
        if groups["op"] == "freeze" or value is None:
            return value
        to = self._widths.get(int(groups["to"]), int(groups["to"]))
        return value & ((1 << width) - 1) if groups["op"] == "zext" else signed(value, to)

    def _call(self, groups: Mapping[str, Any]) -> Any:
        a, b, width = self._pair(groups)
        if a is None or b is None:
            return None
        op, mask, end = groups["op"], (1 << width) - 1, 1 << (width - 1)
        if op in ("sadd", "ssub"):
            return max(-end, min(end - 1, a + b if op == "sadd" else a - b))
        choose = min if op.endswith("min") else max
        return choose(a, b, key=lambda number: number & mask if op[0] == "u" else number)

    def _address(self, groups: Mapping[str, Any]) -> Any:
        base, index = self._of(groups["base"]), self._of(groups["a"])
        if base is None or index is None:
            return None
        place = signed(base + index, self._widths[64])
        within = 0 <= place <= self._elements and place == base + index
        return None if "inbounds" in groups["flags"] and not within else place
