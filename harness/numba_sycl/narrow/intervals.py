"""Intervals of a function's 64-bit integers, as signed numbers: a fixed point over its values, with what branches say.

Every interval holds for each value that an execution computes. An operation that may overflow 64 bits gets the interval
of all numbers, whatever LLVM says of it (``nsw``): that may be what numba or a user claims, and no proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numba_sycl.narrow.function_text import (
    ALL,
    TRANSFER,
    Function,
    IntegerRange,
    join,
    meet,
    of_source,
    outcome,
    where,
    widened,
)
from numba_sycl.narrow.indices import zeros
from numba_sycl.narrow.llvm_line import LlvmInstruction, is_number

# rounds before intervals that still grow are taken to the next of a few steps
_PATIENCE: Final = 6
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
    """

    def __init__(self, function: Function, known: Mapping[str, IntegerRange]) -> None:
        self._function = function
        self._known = known
        self._found: dict[str, IntegerRange] = {}
        self._within: dict[str, list[Condition]] = {}
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
        return TRANSFER[one.kind](one, some)

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
        one = self._function.values.get(value)
        if one is not None and depth < 2 and one.kind == "binary" and one.op == "add":
            parts = [self._on_edge(operand, conditions, depth + 1) for operand in one.operands]
            if all(part is not None for part in parts):
                interval = meet(interval, TRANSFER[one.kind](one, [part for part in parts if part is not None]))
        for left, op, right in conditions:
            other = self._at(right) if left == value else None
            if other is not None:
                interval = meet(interval, where(interval, op, other))
        return interval

    def _counted(self, phi: LlvmInstruction, interval: IntegerRange) -> IntegerRange:
        """A number that counts up to a stop which it cannot miss, where the test is for equality."""
        if len(phi.operands) != 2:
            return interval
        for at in (0, 1):
            start, following = phi.operands[at], phi.operands[1 - at]
            step = self._function.values.get(following)
            if step is None or step.op != "add" or step.operands[0] != phi.result:
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
                is_up_to = first[1] == last[0] or self._is_maximum(stop, start)
                if first[1] < last[0] or (left == phi.result and is_up_to):
                    interval = meet(interval, (first[0], last[1] - (left == following)))
        return interval

    def _is_maximum(self, value: str, of: str) -> bool:
        """True if a value is the largest of several numbers, one of which is given."""
        one = self._function.values.get(value)
        if one is None or one.op not in ("smax", "umax") or of not in one.operands:
            return False
        return one.op == "smax" or all(self.of(part)[0] >= 0 for part in one.operands)

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
