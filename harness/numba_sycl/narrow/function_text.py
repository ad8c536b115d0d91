"""A function of LLVM IR, read from its text as far as 64-bit integers go; LLVM 14 and 20 write them alike."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import product
from typing import Final

from numba_sycl.narrow.llvm_line import NAME, LlvmInstruction, last_word, read_line, split


class Function:
    """A function.

    Attributes:
        head: line ``define ...``.
        instructions: instructions of its body.
        values: instruction that computes each value.
        uses: instructions that use each value.
        parameters: names, in order.
        predecessors: predecessors of each block.
        unknown: first line with an unknown effect on 64-bit integers, which prevents any proof.
    """

    def __init__(self, head: str, lines: list[str]) -> None:
        self.head = head
        self.parameters = [last_word(part) for part in split(head[head.index("(") + 1 : head.rindex(")")])]
        self.instructions: list[LlvmInstruction] = []
        for line in lines:
            self.instructions.append(read_line(line, self.instructions[-1].block if self.instructions else ""))
        self.unknown = next((one.line for one in self.instructions if one.kind == "unknown"), "")
        self.values = {one.result: one for one in self.instructions if one.result}
        self.uses: dict[str, list[LlvmInstruction]] = defaultdict(list)
        self.predecessors: dict[str, list[str]] = defaultdict(list)
        self.branches = {one.block: one for one in self.instructions if one.kind == "branch"}
        for one in self.instructions:
            for name in set(NAME.findall(one.line)) - {one.result}:
                self.uses[name].append(one)
            for label in one.labels:
                self.predecessors[label].append(one.block)

    def loop_of(self, block: str) -> set[str]:
        """The blocks of the innermost loop that a block is in; none outside of loops."""
        return min((body for body in self._loops if block in body), key=len, default=set())

    @cached_property
    def _loops(self) -> list[set[str]]:
        """The blocks of each loop: those before a jump back, as far as the block that it leads to."""
        first, found = self.instructions[0].block, []
        for header, sources in [*self.predecessors.items()]:
            for source in sources:
                body, waiting = {header}, [source]
                while waiting:
                    if (block := waiting.pop()) not in body:
                        body.add(block)
                        waiting += self.predecessors[block]
                if first not in body:
                    found.append(body)
        return found

    def is_assumed(self, test: LlvmInstruction) -> bool:
        """True if a comparison is a fact for the device's compiler."""
        return any(use.callee == "llvm.assume" for use in self.uses[test.result])

    def text(self) -> str:
        """The text that was read."""
        return "\n".join([self.head, *(one.line for one in self.instructions), "}"])


IntegerRange = tuple[int, int]

#: Bits of integers, before and after. The rules hold for any two numbers, and tests prove them by exhaustion for small
#: ones.
WIDE: Final = 64
NARROW: Final = 32


def range_of(width: int) -> IntegerRange:
    """The signed numbers of so many bits."""
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


ALL: Final = range_of(WIDE)
#: Ends that intervals which still grow are taken to.
_STEPS: Final = (0, 1 << 16, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 32, 1 << 47, 1 << 62, (1 << 63) - 1)


def outcome(op: str, left: IntegerRange, right: IntegerRange) -> bool | None:
    """The result of a comparison of two numbers, if it is the same for all in their intervals."""
    if op.startswith("u") and min(left[0], right[0]) < 0:
        return None
    sense = op[1:]
    if sense in ("gt", "ge"):
        left, right, sense = right, left, {"gt": "lt", "ge": "le"}[sense]
    if sense == "lt" and (left[1] < right[0] or left[0] >= right[1]):
        return left[1] < right[0]
    if sense == "le" and (left[1] <= right[0] or left[0] > right[1]):
        return left[1] <= right[0]
    return None


def of_source(one: LlvmInstruction | None) -> IntegerRange:
    """The interval of a value that is not computed from 64-bit integers."""
    if one is not None and one.kind == "extension" and (width := int(one.type[1:])) < 64:
        low = 0 if one.op == "zext" else -(1 << (width - 1))
        return low, (1 << (width - (one.op == "sext" or "nneg" in one.flags))) - 1
    return ALL


def join(parts: list[IntegerRange]) -> IntegerRange:
    """The least interval that has all of these."""
    return min(low for low, _ in parts), max(high for _, high in parts)


def meet(one: IntegerRange, other: IntegerRange) -> IntegerRange:
    """The intersection of two intervals; the first one if it is empty, which happens in unreachable code only."""
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else one


def widened(before: IntegerRange, new: IntegerRange) -> IntegerRange:
    """The interval that has a new one, with ends at a few steps, so that it grows a few times only."""
    low, high = new
    if high > before[1]:
        high = next(step for step in _STEPS if step >= high)
    if low < before[0]:
        low = next((-step for step in _STEPS if -step <= low), ALL[0])
    return low, high


def _checked(low: int, high: int) -> IntegerRange:
    """The interval of an operation's result, which wraps around if 64 bits do not hold it."""
    return (low, high) if ALL[0] <= low <= high <= ALL[1] else ALL


def where(interval: IntegerRange, op: str, other: IntegerRange) -> IntegerRange:
    """The interval of a number in ``interval`` after a comparison with a value of ``other`` was true."""
    low, high = other
    if op in ("ult", "ule") and low >= 0:  # as unsigned numbers, negative ones are the largest
        return 0, high - (op == "ult")
    if op == "ne" and low == high:
        return interval[0] + (interval[0] == low), interval[1] - (interval[1] == low)
    if op in ("ugt", "uge") and min(low, interval[0]) >= 0:
        op = "s" + op[1:]
    limits = {"slt": (ALL[0], high - 1), "sle": (ALL[0], high), "sgt": (low + 1, ALL[1]), "sge": (low, ALL[1])}
    return limits.get(op, other if op == "eq" else ALL)


def _binary(one: LlvmInstruction, parts: list[IntegerRange]) -> IntegerRange:
    left, right = parts
    if one.op in ("add", "sub", "mul"):
        return _sum_or_product(one.op, left, right)
    if one.op in ("shl", "lshr", "ashr"):
        return _shift(one.op, left, right)
    if one.op in ("and", "or", "xor"):
        return _bits(one.op, left, right)
    return _division(one.op, left, right)


def _sum_or_product(op: str, left: IntegerRange, right: IntegerRange) -> IntegerRange:
    (a, b), (c, d) = left, right
    if op == "add":
        return _checked(a + c, b + d)
    if op == "sub":
        return _checked(a - d, b - c)
    corners = [x * y for x, y in product(left, right)]
    return _checked(min(corners), max(corners))


def _bits(op: str, left: IntegerRange, right: IntegerRange) -> IntegerRange:
    if op != "and" and (0, 0) in (left, right):
        return right if left == (0, 0) else left
    if op == "and":
        highs = [high for low, high in (left, right) if low >= 0]
        return (0, min(highs)) if highs else ALL
    return (0, (1 << max(left[1], right[1]).bit_length()) - 1) if min(left[0], right[0]) >= 0 else ALL


def _shift(op: str, number: IntegerRange, by: IntegerRange) -> IntegerRange:
    if by[0] != by[1] or not 0 <= by[0] < WIDE:
        return (0, number[1]) if number[0] >= 0 and op != "shl" else ALL
    if op == "shl":
        return _checked(number[0] << by[0], number[1] << by[0])
    if op == "lshr" and number[0] < 0:
        return ALL if by[0] == 0 else (0, (1 << (WIDE - by[0])) - 1)
    return number[0] >> by[0], number[1] >> by[0]


def _division(op: str, number: IntegerRange, by: IntegerRange) -> IntegerRange:
    """The interval of a quotient or remainder of numbers that are not negative; ``ALL`` for others."""
    if number[0] < 0 or by[0] < 0:
        return ALL
    if op in ("sdiv", "udiv"):
        return number[0] // max(by[1], 1), number[1] // max(by[0], 1)
    return 0, min(number[1], max(by[1] - 1, 0))


def _select(one: LlvmInstruction, parts: list[IntegerRange]) -> IntegerRange:
    return join(parts)


def _same(one: LlvmInstruction, parts: list[IntegerRange]) -> IntegerRange:
    return parts[0]


def _extremum(one: LlvmInstruction, parts: list[IntegerRange]) -> IntegerRange:
    if one.op.startswith("u") and min(parts[0][0], parts[1][0]) < 0:
        return ALL
    choose = min if one.op.endswith("min") else max
    return choose(parts[0][0], parts[1][0]), choose(parts[0][1], parts[1][1])


def _saturated(one: LlvmInstruction, parts: list[IntegerRange]) -> IntegerRange:
    (a, b), (c, d) = parts
    low, high = (a - d, b - c) if one.op == "ssub" else (a + c, b + d)
    return min(max(low, ALL[0]), ALL[1]), max(min(high, ALL[1]), ALL[0])


TRANSFER: Final = {
    "binary": _binary,
    "select": _select,
    "freeze": _same,
    "extremum": _extremum,
    "phi": _same,
    "saturated": _saturated,
}
