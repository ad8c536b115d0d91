"""Intervals of a function's 64-bit integers, as signed numbers: a fixed point over its values, with what branches say.

Every interval holds for each value that an execution computes. An operation that may overflow 64 bits gets the interval
of all numbers, whatever LLVM says of it (``nsw``): that may be what numba or a user claims, and no proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from numba_sycl.narrow.function_text import (
    ALL,
    TRANSFER,
    Function,
    IntegerRange,
    is_moderate,
    join,
    meet,
    of_source,
    outcome,
    where,
    widened,
)
from numba_sycl.narrow.indices import zeros
from numba_sycl.narrow.llvm_line import LlvmInstruction, is_number

# rounds before intervals that still grow are taken to the next of a few steps, and rounds that make them smaller again
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


class Intervals:
    """The intervals of a function's values.

    Args:
        function: function to examine.
        known: intervals of parameters and other values that are not computed here.
        least: values, each with a lower bound.

    Attributes:
        counted: numbers that count up, each with the number at which it ends, which it does not pass.
    """

    def __init__(
        self, function: Function, known: Mapping[str, IntegerRange], least: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._function = function
        self._known = known
        self._least = least
        self._found: dict[str, IntegerRange] = {}
        self._within: dict[str, list[Condition]] = {}
        self.counted: set[tuple[str, str]] = set()
        computed = [
            one for one in function.instructions if one.result and one.kind in TRANSFER and one.result not in known
        ]
        self._solve(computed)

    def of(self, value: str) -> IntegerRange:
        """The interval of a value, or of a constant."""
        return self._at(value) or ALL

    def _at(self, value: str) -> IntegerRange | None:
        """The same; None for what has none yet."""
        if is_number(value):
            return (int(value), int(value)) if value.lstrip("-").isdigit() else ALL
        if value in self._known:
            return self._known[value]
        one = self._function.values.get(value)
        if one is None or one.kind not in TRANSFER:
            return of_source(one)
        return self._found.get(value)

    def _solve(self, computed: list[LlvmInstruction]) -> None:
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
                        new = widened(before, new)
                if new != before:
                    self._found[one.result] = new
                    changed = True
        for _ in range(_REFINEMENTS):
            self.counted.clear()  # what held of intervals that were too small
            for one in computed:
                if (smaller := self._computed(one)) is not None and one.result in self._found:
                    self._found[one.result] = meet(self._found[one.result], smaller)

    def _computed(self, one: LlvmInstruction) -> IntegerRange | None:
        if one.kind == "phi":
            parts = [
                self._on_edge(value, self._conditions(source, one.block), 0)
                for value, source in one.incoming
                if value != one.result
            ]
            some = [part for part in parts if part is not None]
            return self._counted(one, join(some)) if some else None
        conditions = self._conditions_in(one.block)
        operands = [self._on_edge(value, conditions, 0) for value in one.operands]
        if any(part is None for part in operands):
            return None
        some = [part for part in operands if part is not None]
        if choose := self._extremum(one):
            return choose(part[0] for part in some), choose(part[1] for part in some)
        interval = TRANSFER[one.kind](one, some)
        return self._not_below(one, interval) if one.op == "add" else interval

    def _extremum(self, one: LlvmInstruction) -> Callable[[Iterable[int]], int] | None:
        """``min`` or ``max``, where that is what is selected, or computed, of signed numbers."""
        test = self._function.values.get(one.condition)
        op = one.op
        if one.kind == "select" and test is not None and test.operands in (one.operands, one.operands[::-1]):
            op = test.op if test.operands == one.operands else _SWAPPED[test.op]
        return {"slt": min, "sle": min, "smin": min, "sgt": max, "sge": max, "smax": max}.get(op)

    def answer(self, one: LlvmInstruction) -> bool | None:
        """The result of a comparison, if it is the same whenever it is made."""
        conditions = self._conditions_in(one.block)
        left, right = (self._on_edge(value, conditions, 0) or ALL for value in one.operands)
        return outcome(one.op, left, right)

    def _conditions_in(self, block: str) -> list[Condition]:
        """The conditions that hold in a block with one predecessor; none for a block with several."""
        if block not in self._within:
            before = self._function.predecessors[block]
            self._within[block] = self._conditions(before[0], block) if len(before) == 1 else []
        return self._within[block]

    def _conditions(self, source: str, target: str) -> list[Condition]:
        """The conditions that hold on the edge from a block to the next, as far back as the way is unique."""
        found: list[Condition] = []
        seen: set[str] = set()
        while source not in seen:
            seen.add(source)
            branch = self._function.branches.get(source)
            if branch is not None and branch.labels[0] != branch.labels[1]:
                found += self._comparisons(branch.condition, branch.labels[0] == target, 0)
            before = self._function.predecessors[source]
            if len(before) != 1:
                break
            source, target = before[0], source
        return found

    def _comparisons(self, name: str, holds: bool, depth: int) -> list[Condition]:
        """The comparisons that a condition stands for."""
        one = self._function.values.get(name)
        if one is None or depth > 4:
            return []
        if one.kind == "conjunction" and holds:
            return [said for part in one.operands for said in self._comparisons(part, True, depth + 1)]
        if one.kind != "comparison":
            return []
        left, right = one.operands
        op = one.op if holds else _NEGATED[one.op]
        return [(left, op, right), (right, _SWAPPED[op], left)]

    def _on_edge(self, value: str, conditions: list[Condition], depth: int) -> IntegerRange | None:
        """A value where conditions hold."""
        interval = self._at(value)
        if interval is None:
            return None
        least = self._on_edge(self._least[value], conditions, 2) if value in self._least else None
        if least is not None:
            interval = meet(interval, (least[0], ALL[1]))
        one = self._function.values.get(value)
        if one is not None and depth < 2 and one.kind == "binary" and one.op == "add":
            parts = [self._on_edge(operand, conditions, depth + 1) for operand in one.operands]
            if all(part is not None for part in parts):
                interval = meet(interval, TRANSFER[one.kind](one, [part for part in parts if part is not None]))
            interval = self._before_stop(one, interval, conditions)
        for left, op, right in conditions:
            other = self._at(right) if left == value else None
            if other is not None:
                interval = meet(interval, where(interval, op, other))
        return interval

    def _not_below(self, total: LlvmInstruction, interval: IntegerRange) -> IntegerRange:
        """``less + number``, where the number counts up from a start: not below ``less + start``, term by term."""
        for number, less in (total.operands, reversed(total.operands)):
            phi = self._function.values.get(number)
            if phi is None or phi.kind != "phi" or not self._binary_fits(total):
                continue
            starts = [value for value in phi.operands if not self._rises(value, number)]
            for least in self._not_above(starts[0], 0) if len(starts) == 1 else ():
                (terms, constant), (more, another) = self._terms(less, 0), self._terms(least, 0)
                terms.update(more)
                ends = [self.of(name)[count < 0] * count for name, count in terms.items() if count]
                interval = meet(interval, (constant + another + sum(ends), ALL[1]))
        return interval

    def _rises(self, value: str, number: str) -> bool:
        """True if a value is the number and something positive."""
        one = self._function.values.get(value)
        if one is None or one.op != "add" or one.operands[0] != number or not is_number(one.operands[1]):
            return False
        return int(one.operands[1]) > 0 and self._binary_fits(one)

    def _not_above(self, value: str, depth: int) -> Iterator[str]:
        """A value, and what it is the larger of: it is not below any."""
        yield value
        one = self._function.values.get(value)
        if one is None or depth > 2:
            return
        if self._extremum(one) is max:
            for operand in one.operands:
                yield from self._not_above(operand, depth + 1)

    def _terms(self, value: str, depth: int) -> tuple[Counter[str], int]:
        """A value as a sum: how often each name is in it, and a constant."""
        if is_number(value):
            return Counter(), int(value)
        one = self._function.values.get(value)
        if one is None or depth > 3 or one.op not in ("add", "sub") or not self._binary_fits(one):
            return Counter({value: 1}), 0
        (terms, constant), (more, another) = (self._terms(operand, depth + 1) for operand in one.operands)
        if one.op == "add":
            terms.update(more)
            return terms, constant + another
        terms.subtract(more)
        return terms, constant - another

    def _before_stop(self, total: LlvmInstruction, interval: IntegerRange, conditions: list[Condition]) -> IntegerRange:
        """``number + step`` where ``number < stop - step``: it is before the stop, as in a loop over a range."""
        for left, op, right in conditions:
            difference = self._function.values.get(right)
            if left not in total.operands or op not in ("slt", "sgt") or difference is None:
                continue
            if difference.kind not in ("binary", "saturated") or not is_moderate(self.of(right)):
                continue  # it might have overflowed
            step = total.operands[1 - total.operands.index(left)]
            stop, less = difference.operands
            is_it = difference.op in ("sub", "ssub") and less == step
            is_it |= (
                difference.op in ("add", "sadd") and is_number(less) and is_number(step) and int(less) == -int(step)
            )
            if is_it and self._binary_fits(total):
                low, high = self.of(stop)
                interval = meet(interval, (ALL[0], high - 1) if op == "slt" else (low + 1, ALL[1]))
        return interval

    def _binary_fits(self, total: LlvmInstruction) -> bool:
        parts = [self._at(operand) for operand in total.operands]
        return all(part is not None and is_moderate(part) for part in parts)

    def _counted(self, phi: LlvmInstruction, interval: IntegerRange) -> IntegerRange:
        """A number that counts up to a stop which it cannot miss, where the test is for equality."""
        if len(phi.operands) != 2:
            return interval
        for at in (0, 1):
            start, following = phi.operands[at], phi.operands[1 - at]
            step = self._function.values.get(following)
            if step is None or step.kind != "binary" or step.op != "add" or step.operands[0] != phi.result:
                continue
            entry = self._conditions(phi.incoming[at][1], phi.block)
            for left, op, stop in self._conditions(phi.incoming[1 - at][1], phi.block):
                if op != "ne" or left not in (phi.result, following) or self._changes(stop, phi, 1 - at):
                    continue
                if not self._meets(start, stop, step.operands[1]):
                    continue
                first, last = self._on_edge(start, entry, 0), self._on_edge(stop, entry, 0)
                if first is None or last is None:
                    continue
                # the last number that is compared is the stop itself
                if (
                    first[1] < last[0]
                    or self._is_below(start, stop, entry)
                    or (left == phi.result and (first[1] <= last[0] or self._is_at_least(stop, start)))
                ):
                    interval = meet(interval, (first[0], last[1] - (left == following)))
                    self.counted.add((left, stop))
        return interval

    def _meets(self, start: str, stop: str, step: str) -> bool:
        """True if counting leads to the stop: by one, or by another power of two that both are multiples of."""
        power = zeros(self._function, step)
        return step == str(1 << power) and power <= min(zeros(self._function, start), zeros(self._function, stop))

    def _changes(self, value: str, phi: LlvmInstruction, back: int) -> bool:
        """True if a value is computed in the loop that a phi begins, so that it may be another in each round."""
        body, waiting = {phi.block}, [phi.incoming[back][1]]
        while waiting:
            block = waiting.pop()
            if block not in body:
                body.add(block)
                waiting += self._function.predecessors[block]
        one = self._function.values.get(value)
        return one is not None and one.block in body

    def _is_below(self, start: str, stop: str, conditions: list[Condition]) -> bool:
        """True if a condition says that the start is below the stop, or below the number after the stop."""
        return any(left == start and op == "slt" and right == stop for left, op, right in conditions)

    def _is_at_least(self, stop: str, start: str) -> bool:
        """True if the stop is the larger of the start and another number."""
        one = self._function.values.get(stop)
        return one is not None and one.op == "smax" and start in one.operands
