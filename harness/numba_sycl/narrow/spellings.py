"""Spellings of LLVM's optimizer, rewritten as the equal ones that narrowing looks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from numba_sycl.narrow.function_text import WIDE
from numba_sycl.narrow.indices import SIGN_TESTS
from numba_sycl.narrow.llvm_line import NAME, LlvmInstruction, is_number, last_word, read_line

_PURE: Final = ("getelementptr", "select", "icmp", "add", "shl", "lshr")
#: Bits of the number of bytes of LLVM's types of elements.
_BITS: Final = {"i8": 0, "i16": 1, "half": 1, "i32": 2, "float": 2, "i64": 3, "double": 3}


def plainly(lines: list[str], elements: Mapping[str, str]) -> list[str]:
    """The lines of a function whose values all have names, respelled.

    Args:
        lines: its lines.
        elements: the arrays among its parameters, with LLVM's type of their elements.
    """
    instructions = [read_line(line, "") for line in lines]
    spelling = _Spelling({one.result: one for one in instructions if one.result}, elements)
    changed = [line for one in instructions for line in spelling.of(one) or [one.line]]
    return changed if changed == lines else _without_unused(changed)


def _without_unused(lines: list[str]) -> list[str]:
    """The lines without addresses, selections, comparisons, sums and shifts of which nothing is left that uses them."""
    instructions = [read_line(line, "") for line in lines]
    while True:
        used = {name for one in instructions for name in NAME.findall(one.line.partition(" = ")[2] or one.line)}
        kept = [one for one in instructions if one.opcode not in _PURE or one.result in used]
        if len(kept) == len(instructions):
            return [one.line for one in kept]
        instructions = kept


@dataclass(frozen=True)
class _Element:
    """An element of an array: its index is ``before + last``, or ``last`` where nothing is before it."""

    array: str
    type: str
    before: str
    last: str
    index: str


class _Spelling:
    def __init__(self, values: dict[str, LlvmInstruction], elements: Mapping[str, str]) -> None:
        self._values = values
        self._arrays = elements
        self._elements: dict[str, _Element] = {}

    def of(self, one: LlvmInstruction) -> Sequence[str]:
        """The lines for an instruction; none where it stays.

        One index for all steps of an address, and one that counts from the end where it is negative for an index and
        what is added then. A test of the sign of a number of fewer bits becomes one of the index that it is extended
        to.
        """
        if one.kind == "gep":
            return self._address(one)
        if one.op == "and" and (lines := self._sign(one)):
            self._values |= {line.split()[0]: read_line(line, "") for line in lines}
            return lines
        if one.op == "add":
            return _from_end(one.result, one.result, (one.operands[0], one.operands[1]), self._values, ("other",))
        return ()

    def _sign(self, one: LlvmInstruction) -> list[str]:
        """A selection by the sign of a number, for a power of two that its sign bit was shifted and masked to."""
        shift, power = self._values.get(one.operands[0]), one.operands[1]
        if shift is None or shift.op != "lshr" or not (power.isdigit() and shift.operands[1].isdigit()):
            return []
        if int(power) << int(shift.operands[1]) != 1 << (WIDE - 1):
            return []
        test = f"{one.result}.test"
        return [
            f"  {test} = icmp slt i64 {shift.operands[0]}, 0",
            f"  {one.result} = select i1 {test}, i64 {power}, i64 0",
        ]

    def _address(self, one: LlvmInstruction) -> Sequence[str]:
        name, pointer = one.result, last_word(one.parts[1])
        first = self._elements.get(pointer)
        if first is None and pointer in self._arrays:
            first = _Element(one.parts[1], self._arrays[pointer], "", "", "")
        if first is None or len(one.parts) != 3 or not one.parts[2].startswith("i64 "):
            return ()
        lines, step = self._step(one, first.type)
        if not step:
            return ()
        total, index = f"{name}.total", f"{name}.sum"
        if of_end := _from_end(name, total, (first.last, step), self._values, ("comparison", "other")):
            before, last, lines = first.before, total, [*lines, *of_end]
        else:
            before, last = first.index, step
        if before:
            lines = [*lines, f"  {index} = add i64 {before}, {last}"]
        else:
            index = last
        self._elements[name] = _Element(first.array, first.type, before, last, index)
        if not before and one.type == first.type and not of_end:
            return ()
        return [*lines, f"  {name} = getelementptr {first.type}, {first.array}, i64 {index}"]

    def _step(self, one: LlvmInstruction, kind: str) -> tuple[list[str], str]:
        """The elements by which a step of an address goes on, and lines that compute them; "" for parts of elements."""
        step, bits = last_word(one.parts[2]), _BITS.get(kind)
        if one.type == kind:
            return [], step
        if one.type != "i8" or bits is None:
            return [], ""
        if is_number(step):
            return [], "" if int(step) % (1 << bits) else str(int(step) >> bits)
        scaled = self._values.get(step)
        if scaled is None or scaled.op not in ("shl", "mul") or not scaled.operands[1].isdigit():
            return [], ""
        number, by = scaled.operands
        factor = 1 << int(by) if scaled.op == "shl" else int(by)
        if factor % (1 << bits):
            return [], ""
        name = f"{one.result}.step"
        return [f"  {name} = mul i64 {number}, {factor >> bits}"], name


def _from_end(
    name: str, total: str, parts: tuple[str, str], values: dict[str, LlvmInstruction], kinds: Sequence[str]
) -> Sequence[str]:
    """The lines that add what an index counts from; none if that is not what the parts of a sum are.

    Args:
        name: name that those of new values begin with.
        total: name of the sum.
        parts: parts of the sum.
        values: instruction that computes each value.
        kinds: kinds of comparisons to write anew.
    """
    for index, chosen in (parts, parts[::-1]):
        choice = values.get(chosen)
        test = values.get(choice.condition) if choice is not None and choice.op == "select" else None
        if choice is not None and test is not None and test.kind in kinds and _is_of_sign(test, index, values):
            return (
                f"  {name}.test = icmp {test.parts[0].split()[0]} i64 {index}, {test.parts[1]}",
                f"  {name}.more = select {', '.join((f'i1 {name}.test', *choice.parts[1:]))}",
                f"  {total} = add i64 {index}, {name}.more",
            )
    return ()


def _is_of_sign(test: LlvmInstruction, index: str, values: dict[str, LlvmInstruction]) -> bool:
    if test.opcode != "icmp" or len(words := test.parts[0].split()) != 3:
        return False
    number, extended = words[2], values.get(index)
    is_extended = extended is not None and extended.op == "sext" and number in extended.parts[0].split()
    return (number == index or is_extended) and (words[0], test.parts[1]) in SIGN_TESTS
