"""Intervals of a function's 64-bit integers, as signed numbers: a fixed point over its values, with what branches say.

Every interval holds for each value that an execution computes, wherever no operation overflows 64 bits; one that might
gets the interval of all numbers. Nothing is concluded from ``nuw`` and ``nsw``.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Final

from xebench.dpex.narrow.function_text import Function, Instruction

Interval = tuple[int, int]

ALL: Final[Interval] = (-(1 << 63), (1 << 63) - 1)
_STEPS: Final = (0, 1 << 16, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 32, 1 << 47, 1 << 62, (1 << 63) - 1)
# rounds before intervals that still grow are taken to the next of these steps, and rounds that make them smaller again
_PATIENCE: Final = 6
_REFINEMENTS: Final = 3
_SWAPPED: Final = {"slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle", "ult": "ugt", "ugt": "ult", "ule": "uge"} | {
    "uge": "ule",
    "eq": "eq",
    "ne": "ne",
}
_NEGATED: Final = {"slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "ult": "uge", "uge": "ult", "ugt": "ule"} | {
    "ule": "ugt",
    "eq": "ne",
    "ne": "eq",
}

#: ``left op right`` holds.
Condition = tuple[str, str, str]


def is_number(value: str) -> bool:
    """Whether it is a constant."""
    return not value.startswith("%")


class Intervals:
    """The intervals of a function's values.

    Args:
        function: which.
        known: of parameters and other values that are not computed here.
    """

    def __init__(self, function: Function, known: Mapping[str, Interval]) -> None:
        self._function = function
        self._known = known
        self._found: dict[str, Interval] = {}
        self._within: dict[str, list[Condition]] = {}
        computed = [
            one for one in function.instructions if one.result and one.kind in _TRANSFER and one.result not in known
        ]
        self._solve(computed)

    def of(self, value: str) -> Interval:
        """The interval of a value, or of a constant."""
        return self._at(value) or ALL

    def _at(self, value: str) -> Interval | None:
        """The same; None for what has none yet."""
        if is_number(value):
            return (int(value), int(value)) if value.lstrip("-").isdigit() else ALL
        if value in self._known:
            return self._known[value]
        one = self._function.values.get(value)
        if one is None or one.kind not in _TRANSFER:
            return _of_source(one)
        return self._found.get(value)

    def _solve(self, computed: list[Instruction]) -> None:
        rounds, changed = 0, True
        while changed:
            changed = False
            rounds += 1
            for one in computed:
                before, new = self._found.get(one.result), self._computed(one)
                if new is None:
                    continue
                if before is not None:
                    new = (min(before[0], new[0]), max(before[1], new[1]))
                    if new != before and rounds > _PATIENCE:
                        new = _widened(before, new)
                if new != before:
                    self._found[one.result] = new
                    changed = True
        for _ in range(_REFINEMENTS):
            for one in computed:
                if (smaller := self._computed(one)) is not None and one.result in self._found:
                    self._found[one.result] = _meet(self._found[one.result], smaller)

    def _computed(self, one: Instruction) -> Interval | None:
        if one.kind == "phi":
            parts = [
                self._on_edge(value, self._conditions(source, one.block), 0)
                for value, source in zip(one.operands, one.sources, strict=True)
                if value != one.result
            ]
            some = [part for part in parts if part is not None]
            return self._counted(one, _join(some)) if some else None
        conditions = self._conditions_in(one.block)
        operands = [self._on_edge(value, conditions, 0) for value in one.operands]
        if any(part is None for part in operands):
            return None
        return _TRANSFER[one.kind](one, [part for part in operands if part is not None])

    def answer(self, one: Instruction) -> bool | None:
        """What a comparison gives whenever it is made, if that is always the same."""
        conditions = self._conditions_in(one.block)
        left, right = (self._on_edge(value, conditions, 0) or ALL for value in one.operands)
        return outcome(one.op, left, right)

    def _conditions_in(self, block: str) -> list[Condition]:
        """What holds in a block, since there is one way to it only."""
        if block not in self._within:
            before = self._function.predecessors[block]
            self._within[block] = self._conditions(before[0], block) if len(before) == 1 else []
        return self._within[block]

    def _conditions(self, source: str, target: str) -> list[Condition]:
        """What holds on the way from a block to the next, as far back as there is one way only."""
        found: list[Condition] = []
        seen: set[str] = set()
        while source not in seen:
            seen.add(source)
            branch = self._function.branches.get(source)
            if branch is not None and branch.fields["then"] != branch.fields["other"]:
                found += self._said(branch.fields["condition"] or "", branch.fields["then"] == target, 0)
            before = self._function.predecessors[source]
            if len(before) != 1:
                break
            source, target = before[0], source
        return found

    def _said(self, name: str, holds: bool, depth: int) -> list[Condition]:
        """The comparisons that a condition stands for."""
        one = self._function.values.get(name)
        if one is None or depth > 4:
            return []
        if one.kind == "conjunction" and holds:
            parts = [one.fields[key] for key in ("first", "second", "left", "right")]
            return [said for part in parts if part for said in self._said(part, True, depth + 1)]
        if one.kind != "comparison":
            return []
        left, right = one.operands
        op = one.op if holds else _NEGATED[one.op]
        return [(left, op, right), (right, _SWAPPED[op], left)]

    def _on_edge(self, value: str, conditions: list[Condition], depth: int) -> Interval | None:
        """A value where conditions hold."""
        interval = self._at(value)
        if interval is None:
            return None
        one = self._function.values.get(value)
        if one is not None and depth < 2 and one.kind == "binary" and one.op == "add":
            parts = [self._on_edge(operand, conditions, depth + 1) for operand in one.operands]
            if all(part is not None for part in parts):
                interval = _meet(interval, _binary(one, [part for part in parts if part is not None]))
            interval = self._before_stop(one, interval, conditions)
        for left, op, right in conditions:
            other = self._at(right) if left == value else None
            if other is not None:
                interval = _meet(interval, _where(interval, op, other))
        return interval

    def _before_stop(self, total: Instruction, interval: Interval, conditions: list[Condition]) -> Interval:
        """``number + step`` where ``number < stop - step``: it is before the stop, as in a loop over a range."""
        for left, op, right in conditions:
            difference = self._function.values.get(right)
            if left not in total.operands or op not in ("slt", "sgt") or difference is None:
                continue
            if difference.kind != "binary" or self.of(right) == ALL:  # it might have overflowed
                continue
            step = total.operands[1 - total.operands.index(left)]
            stop, less = difference.operands
            is_it = difference.op == "sub" and less == step
            is_it |= difference.op == "add" and is_number(less) and is_number(step) and int(less) == -int(step)
            if is_it and self._binary_fits(total):
                low, high = self.of(stop)
                interval = _meet(interval, (ALL[0], high - 1) if op == "slt" else (low + 1, ALL[1]))
        return interval

    def _binary_fits(self, total: Instruction) -> bool:
        parts = [self._at(operand) for operand in total.operands]
        return all(
            part is not None and part != ALL and abs(part[0]) < 1 << 62 and abs(part[1]) < 1 << 62 for part in parts
        )

    def _counted(self, phi: Instruction, interval: Interval) -> Interval:
        """A number that counts by one to a stop which it cannot miss, where the test is for equality."""
        if len(phi.operands) != 2:
            return interval
        for at in (0, 1):
            start, following = phi.operands[at], phi.operands[1 - at]
            step = self._function.values.get(following)
            if step is None or step.kind != "binary" or step.op != "add" or step.operands != [phi.result, "1"]:
                continue
            entry = self._conditions(phi.sources[at], phi.block)
            for left, op, stop in self._conditions(phi.sources[1 - at], phi.block):
                if op != "ne" or left not in (phi.result, following) or self._changes(stop, phi, 1 - at):
                    continue
                first, last = self._on_edge(start, entry, 0), self._on_edge(stop, entry, 0)
                if first is None or last is None:
                    continue
                # the last number that is compared is the stop itself
                if (
                    first[1] < last[0]
                    or self._is_below(start, stop, entry)
                    or (left == phi.result and first[1] <= last[0])
                ):
                    interval = _meet(interval, (first[0], last[1] - (left == following)))
        return interval

    def _changes(self, value: str, phi: Instruction, back: int) -> bool:
        """Whether a value is computed in the loop that a phi begins, so that it may be another in each round."""
        body, waiting = {phi.block}, [phi.sources[back]]
        while waiting:
            block = waiting.pop()
            if block not in body:
                body.add(block)
                waiting += self._function.predecessors[block]
        one = self._function.values.get(value)
        return one is not None and one.block in body

    def _is_below(self, start: str, stop: str, conditions: list[Condition]) -> bool:
        """Whether a condition says that the start is below the stop, or below the number after the stop."""
        return any(left == start and op == "slt" and right == stop for left, op, right in conditions)


def outcome(op: str, left: Interval, right: Interval) -> bool | None:
    """What a comparison of two numbers gives, if it gives the same for all in their intervals."""
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


def _of_source(one: Instruction | None) -> Interval:
    """What is not computed from 64-bit integers."""
    if one is not None and one.kind == "extension" and (width := int(one.fields["width"] or 64)) < 64:
        low = 0 if one.op == "zext" else -(1 << (width - 1))
        return low, (1 << (width - (one.op == "sext" or " nneg " in one.line))) - 1
    return ALL


def _join(parts: list[Interval]) -> Interval:
    return min(low for low, _ in parts), max(high for _, high in parts)


def _meet(one: Interval, other: Interval) -> Interval:
    """What is in both; what cannot be, in code that is not reached, is left as it was."""
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else one


def _widened(before: Interval, new: Interval) -> Interval:
    low, high = new
    if high > before[1]:
        high = next(step for step in _STEPS if step >= high)
    if low < before[0]:
        low = next((-step for step in _STEPS if -step <= low), ALL[0])
    return low, high


def _checked(low: int, high: int) -> Interval:
    return (low, high) if ALL[0] <= low and high <= ALL[1] else ALL


def _where(interval: Interval, op: str, other: Interval) -> Interval:
    """What a comparison with a value of ``other`` says of a number in ``interval``."""
    low, high = other
    if op in ("ult", "ule") and low >= 0:  # as unsigned numbers, negative ones are the largest
        return 0, high - (op == "ult")
    if op in ("ugt", "uge") or op == "ne":
        return ALL
    limits = {"slt": (ALL[0], high - 1), "sle": (ALL[0], high), "sgt": (low + 1, ALL[1]), "sge": (low, ALL[1])}
    return limits.get(op, other if op == "eq" else ALL)


def _binary(one: Instruction, parts: list[Interval]) -> Interval:
    left, right = parts
    if one.op in ("add", "sub", "mul"):
        return _sum_or_product(one.op, left, right)
    if one.op in ("shl", "lshr", "ashr"):
        return _shift(one.op, left, right)
    if one.op in ("and", "or", "xor"):
        return _bits(one.op, left, right)
    return _division(one.op, left, right)


def _sum_or_product(op: str, left: Interval, right: Interval) -> Interval:
    (a, b), (c, d) = left, right
    if op == "add":
        return _checked(a + c, b + d)
    if op == "sub":
        return _checked(a - d, b - c)
    corners = [x * y for x, y in product(left, right)]
    return _checked(min(corners), max(corners))


def _bits(op: str, left: Interval, right: Interval) -> Interval:
    if op == "and":
        highs = [high for low, high in (left, right) if low >= 0]
        return (0, min(highs)) if highs else ALL
    return (0, (1 << max(left[1], right[1]).bit_length()) - 1) if min(left[0], right[0]) >= 0 else ALL


def _shift(op: str, number: Interval, by: Interval) -> Interval:
    if by[0] != by[1] or not 0 <= by[0] < 64:
        return (0, number[1]) if number[0] >= 0 and op != "shl" else ALL
    if op == "shl":
        return _checked(number[0] << by[0], number[1] << by[0])
    if op == "lshr" and number[0] < 0:
        return ALL if by[0] == 0 else (0, (1 << (64 - by[0])) - 1)
    return number[0] >> by[0], number[1] >> by[0]


def _division(op: str, number: Interval, by: Interval) -> Interval:
    """Of numbers that are not negative; others are not looked at."""
    if number[0] < 0 or by[0] < 0:
        return ALL
    if op in ("sdiv", "udiv"):
        return number[0] // max(by[1], 1), number[1] // max(by[0], 1)
    return 0, min(number[1], max(by[1] - 1, 0))


def _select(one: Instruction, parts: list[Interval]) -> Interval:
    return _join(parts)


def _same(one: Instruction, parts: list[Interval]) -> Interval:
    return parts[0]


def _extremum(one: Instruction, parts: list[Interval]) -> Interval:
    if one.op.startswith("u") and min(parts[0][0], parts[1][0]) < 0:
        return ALL
    choose = min if one.op.endswith("min") else max
    return choose(parts[0][0], parts[1][0]), choose(parts[0][1], parts[1][1])


_TRANSFER: Final = {"binary": _binary, "select": _select, "freeze": _same, "extremum": _extremum, "phi": _same}
