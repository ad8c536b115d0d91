"""Find the 64-bit integers that are only parts of indices, and the indices that lead to an accessed element.

An array has fewer than 2**30 elements, and an access is in bounds, or a kernel has no meaning. So the low 32 bits of
its index are enough, which is one sum, whatever its parts do. An index that counts from the end where it is negative is
within the extent on either side, so that its low 32 bits have its sign; when no access is made, it is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from numba_sycl.narrow.function_text import Function
from numba_sycl.narrow.llvm_line import LlvmInstruction, is_number, last_word

#: Operations whose low bits are those of their operands.
_OF_INDICES: Final = ("add", "sub", "mul", "shl", "phi", "select")

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


def leads_to_elements(function: Function, value: str, index: Callable[[LlvmInstruction], str]) -> bool:
    """True if a number is of no use but in indices of elements that are accessed.

    Args:
        function: function to examine.
        value: the number.
        index: function that returns the index of a ``getelementptr`` that leads to an access of an array, or "".
    """
    seen, waiting = {value}, [value]
    while waiting:
        number = waiting.pop()
        for use in function.uses[number]:
            if use.kind == "gep":
                if index(use) != number:
                    return False
            elif use.op not in _OF_INDICES or number not in use.operands or use.condition == number:
                return False
            elif use.result not in seen:
                seen.add(use.result)
                waiting.append(use.result)
    return True


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
    """

    def __init__(self, function: Function, elements: Mapping[str, str]) -> None:
        self._function = function
        self._elements = elements

    def index(self, gep: LlvmInstruction) -> str:
        """The index of a ``getelementptr`` that takes the low 32 bits of it to an element of an array; or ""."""
        base = base_of(gep)
        is_element = base and not is_number(gep.operands[0]) and self._elements.get(base) == gep.type
        return gep.operands[0] if is_element and self._is_accessed(gep.result) else ""

    def _is_accessed(self, pointer: str, depth: int = 0) -> bool:
        """True if memory is accessed through a pointer."""
        for use in self._function.uses[pointer]:
            if use.opcode == "bitcast" and depth < 8:
                if not self._is_accessed(use.result, depth + 1):
                    return False
            elif use.opcode not in ("load", "store", "call"):
                return False
        return True
