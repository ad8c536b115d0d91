"""Find the 64-bit integers that are only parts of indices, and the indices that lead to an accessed element.

An array has fewer than 2**30 elements, and an access is in bounds, or a kernel has no meaning. So a number that is not
negative, and that reaches an access by sums and products of such numbers alone, fits 31 bits whenever the access is
made; when none is made, it is not used. The same gives the sign of an index that counts from the end where it is
negative: as it is within the extent on either side, its low 32 bits have its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from numba_sycl.narrow.function_text import Function, IntegerRange
from numba_sycl.narrow.llvm_line import LlvmInstruction, is_number, last_word

#: What only grows where its operands grow.
GROWING: Final = ("add", "mul", "shl", "or", "phi", "select")

#: Comparisons of an index, and whether they hold for negative ones.
SIGN_TESTS: Final = {("slt", "0"): True, ("sgt", "-1"): False}


@dataclass(frozen=True)
class Wrapped:
    """An index that counts from the end where it is negative: ``index + (extent if index < 0 else 0)``.

    Attributes:
        test: the comparison with 0.
        extent: extent that is added.
        result: the index from the start.
    """

    test: LlvmInstruction
    extent: str
    result: str


def wrapped_indices(function: Function) -> list[Wrapped]:
    """All of a function whose test of the sign serves nothing else."""
    found = []
    for one in function.instructions:
        negative = SIGN_TESTS.get((one.op, one.operands[1])) if one.kind == "comparison" else None
        if negative is not None and (of_test := _of_test(function, one, negative)):
            found += of_test
    return found


def _of_test(function: Function, test: LlvmInstruction, negative: bool) -> list[Wrapped]:
    found = []
    for choice in function.uses[test.result]:
        if choice.kind != "select" or choice.condition != test.result:
            return []
        extent, other = choice.operands if negative else reversed(choice.operands)
        for use in function.uses[choice.result]:
            index = test.operands[0]
            if other != "0" or use.op != "add" or sorted(use.operands) != sorted((choice.result, index)):
                return []
            found.append(Wrapped(test, extent, use.result))
    return found


def parts_of_indices(
    function: Function,
    among: set[str],
    interval: Callable[[str], IntegerRange],
    element: Callable[[LlvmInstruction], str],
) -> set[str]:
    """The values that an array access bounds.

    Args:
        function: function to examine.
        among: the values to look at.
        interval: function that returns the interval of a value.
        element: the index of a ``getelementptr`` that leads to an access of an array, or "".
    """

    def bounds(use: LlvmInstruction, value: str) -> bool:
        if use.kind == "gep":
            return element(use) == value
        if use.result not in found or use.op not in GROWING or value not in use.operands:
            return False
        if use.condition == value or (use.op == "shl" and use.operands[0] != value):
            return False
        others = [operand for operand in use.operands if operand != value]
        if use.op in ("phi", "select"):
            return True
        return all(interval(operand)[0] >= (use.op == "mul") for operand in others)

    found = {value for value in among if interval(value)[0] >= 0}
    while True:
        wrong = {value for value in found if not all(bounds(use, value) for use in function.uses[value])}
        if not wrong:
            return found
        found -= wrong


def counts(function: Function, value: str, depth: int = 0) -> bool:
    """True if a number is made of constants alone: one, or what counts by constants."""
    one = function.values.get(value)
    if is_number(value) or one is None or depth > 4:
        return is_number(value)
    if one.kind == "phi":
        return all(is_number(part) or _is_step(function, part, value) for part in one.operands)
    return one.op in ("add", "mul", "shl", "or") and all(counts(function, part, depth + 1) for part in one.operands)


def _is_step(function: Function, value: str, of: str) -> bool:
    one = function.values.get(value)
    return one is not None and one.op == "add" and one.operands[0] == of and is_number(one.operands[1])


def zeros(function: Function, value: str, depth: int = 0) -> int:
    """So many of the last bits of a number are 0, at least."""
    if is_number(value):
        return (int(value) & -int(value)).bit_length() - 1 if value.lstrip("-").isdigit() and int(value) else 64
    one = function.values.get(value)
    if one is None or depth > 6:
        return 0
    if one.kind == "phi":
        parts = [one.operands[0] if part == value else part for part in one.operands]
        steps = [function.values[part].operands[1] if _is_step(function, part, value) else part for part in parts]
        return min(zeros(function, part, depth + 3) for part in steps)
    if one.op == "shl" and one.operands[1].isdigit():
        return int(one.operands[1]) + zeros(function, one.operands[0], depth + 1)
    several = [zeros(function, part, depth + 1) for part in one.operands]
    if one.op in ("add", "or", "select"):
        return min(several)
    return max(several) if one.op == "and" else sum(several) if one.op == "mul" else 0


def base_of(gep: LlvmInstruction) -> str:
    """The pointer that the elements of an address with one index of 64 bits count from; "" for others."""
    base = last_word(gep.parts[1])
    plain = len(gep.parts) == 3 and len(gep.operands) == 1 and gep.type.isalnum()
    return base if plain and not is_number(base) else ""


class Addresses:
    """The ``getelementptr`` of a function.

    Args:
        function: function to examine.
        elements: the arrays among its parameters, with LLVM's type of their elements.
        interval: function that returns the interval of a value.
    """

    def __init__(
        self, function: Function, elements: Mapping[str, str], interval: Callable[[str], IntegerRange]
    ) -> None:
        self._function = function
        self._elements = elements
        self._interval = interval

    def index(self, gep: LlvmInstruction) -> str:
        """The index of a ``getelementptr`` that takes the low 32 bits of it to an element of an array; or "".

        The array is reached from its start, in one step or in several that all go forwards: then each is within it.
        """
        base = base_of(gep)
        if not base or is_number(gep.operands[0]):
            return ""
        at_once = self._elements.get(base) == gep.type and self._is_accessed(gep.result, at_once=True)
        if at_once:
            return gep.operands[0]
        forwards = self._goes_forwards(gep) and self._starts_forwards(base, gep.type)
        return gep.operands[0] if forwards and self._is_accessed(gep.result, at_once=False) else ""

    def _goes_forwards(self, gep: LlvmInstruction) -> bool:
        """True if a step is not backwards; a constant one may be, by less than what is between the bound and 2**31."""
        return all(self._interval(value)[0] >= (-(1 << 20) if is_number(value) else 0) for value in gep.operands)

    def _starts_forwards(self, base: str, kind: str) -> bool:
        while base not in self._elements:
            one = self._function.values.get(base)
            if one is None or one.kind != "gep" or not base_of(one) or not self._goes_forwards(one):
                return False
            base = base_of(one)
        return self._elements[base] == kind

    def _is_accessed(self, pointer: str, *, at_once: bool, depth: int = 0) -> bool:
        """True if memory is accessed through a pointer, or through others that steps forwards lead to."""
        for use in self._function.uses[pointer]:
            leads_on = use.opcode == "bitcast"
            leads_on |= use.kind == "gep" and not at_once and self._goes_forwards(use)
            if leads_on and (depth > 8 or not self._is_accessed(use.result, at_once=at_once, depth=depth + 1)):
                return False
            if not leads_on and use.opcode not in ("load", "store", "call"):
                return False
        return True
