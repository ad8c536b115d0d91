"""Rewrite a kernel's index arithmetic in 32 bits, as far as :mod:`intervals` proves that nothing is lost.

Two kinds of values are narrowed. A value that *fits*, as do its operands, is the same number in 32 bits. Of a value
that may be larger but is only the index of an array's element, the low 32 bits are enough: the array has fewer than
2**31 elements, so an index that is in bounds fits although what it was computed from may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from xebench.dpex.narrow.function_text import Function, Instruction
from xebench.dpex.narrow.intervals import Interval, Intervals, is_number

_COMPUTED: Final = ("binary", "phi", "select", "freeze", "extremum")
# operations whose low 32 bits depend on no others
_OF_LOW_BITS: Final = ("add", "sub", "mul", "and", "or", "xor", "shl", "phi", "select", "freeze")
_STEP: Final = re.compile(r"getelementptr (?:inbounds |nuw |nusw )*[\w ]+, [^%]*(?P<base>%[\w.$-]+), i64 \S+$")
_ELEMENT: Final = re.compile(
    r"getelementptr (?:inbounds |nuw |nusw )*(?P<type>[\w ]+), [^%]*(?P<base>%[\w.$-]+), i64 (?P<index>%[\w.$-]+)$"
)
_ACCESS: Final = re.compile(r"^ +(?:%[\w.$-]+ = )?(?:load |store |(?:tail )?call )")


def narrowed(head: str, lines: list[str], known: Mapping[str, Interval], elements: Mapping[str, str]) -> str:
    """The function with its index arithmetic in 32 bits.

    Args:
        head: its first line.
        lines: its body; all values have names.
        known: intervals of parameters and ids.
        elements: the arrays among the parameters, with LLVM's type of their elements.
    """
    return _Rewriting(Function(head, lines), known, elements).text()


class _Rewriting:
    def __init__(self, function: Function, known: Mapping[str, Interval], elements: Mapping[str, str]) -> None:
        self._function = function
        self._elements = elements
        self._intervals = Intervals(function, known)
        self._decided = {id(one): answer for one in function.instructions if (answer := self._outcome(one)) is not None}
        self._whole = {one.result for one in function.instructions if one.kind in _COMPUTED and self._is_exact(one)}
        self._low = self._find_low()
        self._cut: set[str] = set()  # wide values of which 32 bits are used

    def _outcome(self, one: Instruction) -> bool | None:
        """What a comparison gives whenever it is made, as whether an index is negative."""
        if one.kind != "comparison" or any("@llvm.assume" in use.line for use in self._function.uses[one.result]):
            return None
        return self._intervals.answer(one)

    def _fits(self, value: str) -> bool:
        low, high = self._intervals.of(value)
        return low >= -(1 << 31) and high < 1 << 31

    def _is_positive(self, value: str) -> bool:
        return self._intervals.of(value)[0] >= 0

    def _is_exact(self, one: Instruction) -> bool:
        """Whether the operation gives the same number in 32 bits."""
        if not self._fits(one.result) or not all(map(self._fits, one.operands)):
            return False
        if one.op in ("shl", "lshr", "ashr") and not (one.operands[1].isdigit() and int(one.operands[1]) < 32):
            return False
        unsigned = one.op in ("lshr", "udiv", "urem", "umin", "umax")
        return not unsigned or all(map(self._is_positive, one.operands))

    def _find_low(self) -> set[str]:
        """The largest set of values of which only the low bits count."""
        found = {
            one.result
            for one in self._function.instructions
            if one.kind in _COMPUTED and one.op in _OF_LOW_BITS and one.result not in self._whole
            if one.op != "shl" or (one.operands[1].isdigit() and int(one.operands[1]) < 32)
        }
        while True:
            wrong = {
                value
                for value in found
                if not all(self._takes_low(use, value, found) for use in self._function.uses[value])
            }
            if not wrong:
                return found
            found -= wrong

    def _takes_low(self, use: Instruction, value: str, low: set[str]) -> bool:
        if use.kind == "truncation":
            return int(use.fields["width"] or 64) <= 32
        if id(use) in self._decided:
            return True
        if use.kind == "gep":
            return self._element(use) == value
        if use.result in low and use.kind in _COMPUTED:
            return value in use.operands and use.fields.get("condition") != value
        return False

    def _element(self, gep: Instruction) -> str:
        """The index of a ``getelementptr`` that takes the low 32 bits of it to an element of an array; or "".

        The array is reached from its start, in one step or in several that all go forwards: then each is within it.
        """
        match = _ELEMENT.search(gep.line)
        if match is None:
            return ""
        kind, base = match["type"].strip(), match["base"]
        at_once = self._elements.get(base) == kind and self._is_accessed(gep.result, at_once=True)
        if at_once:
            return match["index"]
        forwards = self._goes_forwards(gep) and self._starts_forwards(base, kind)
        return match["index"] if forwards and self._is_accessed(gep.result, at_once=False) else ""

    def _goes_forwards(self, gep: Instruction) -> bool:
        """Whether a step is not backwards; a constant one may be, by less than what is between the bound and 2**31."""
        return all(self._intervals.of(value)[0] >= (-(1 << 20) if is_number(value) else 0) for value in gep.operands)

    def _starts_forwards(self, base: str, kind: str) -> bool:
        while base not in self._elements:
            one = self._function.values.get(base)
            match = _STEP.search(one.line) if one is not None and one.kind == "gep" else None
            if one is None or match is None or not self._goes_forwards(one):
                return False
            base = match["base"]
        return self._elements[base] == kind

    def _is_accessed(self, pointer: str, *, at_once: bool, depth: int = 0) -> bool:
        """Whether memory is accessed through a pointer, or through others that steps forwards lead to."""
        for use in self._function.uses[pointer]:
            leads_on = " = bitcast " in use.line
            leads_on |= use.kind == "gep" and not at_once and self._goes_forwards(use)
            if leads_on and (depth > 8 or not self._is_accessed(use.result, at_once=at_once, depth=depth + 1)):
                return False
            if not leads_on and not _ACCESS.search(use.line):
                return False
        return True

    def text(self) -> str:
        """The rewritten function."""
        rewritten = {id(one): line for one in self._function.instructions if (line := self._rewritten(one))}
        wide = {name for name in self._whole if any(id(use) not in rewritten for use in self._function.uses[name])}
        lines = [self._function.head]
        waiting: list[str] = []  # what has to stand after a block's phis
        parameters = [name for name in self._function.parameters if name in self._cut]
        begun = False
        for one in self._function.instructions:
            is_phi = " = phi " in one.line
            if not begun and one.kind != "label":
                waiting += [f"  {_short(name)} = trunc i64 {name} to i32" for name in parameters]
                begun = True
            if not is_phi and one.kind != "label" and one.line.strip():
                lines += waiting
                waiting = []
            lines.append(rewritten.get(id(one), one.line))
            if one.result in self._cut:
                waiting.append(f"  {_short(one.result)} = trunc i64 {one.result} to i32")
            if one.result in wide:
                waiting.append(f"  {one.result} = sext i32 {_short(one.result)} to i64")
            if not is_phi:
                lines += waiting
                waiting = []
        return "\n".join([*lines, "}"])

    def _rewritten(self, one: Instruction) -> str:
        """The line in 32 bits; "" where it stays."""
        if one.result in self._whole or one.result in self._low:
            return f"  {_short(one.result)} = {self._operation(one)}"
        body = ""
        if one.kind == "comparison":
            body = self._comparison(one)
        elif one.kind == "truncation":
            body = self._truncation(one)
        elif one.kind == "to_float" and self._fits(one.operands[0]):
            if one.op == "sitofp" or self._is_positive(one.operands[0]):
                body = f"sitofp i32 {self._of(one.operands[0])} to {one.fields['type']}"
        elif one.kind == "gep":
            return self._gep(one)
        return body and f"  {one.result} = {body}"

    def _comparison(self, one: Instruction) -> str:
        left, right = one.operands
        if id(one) in self._decided:
            return f"icmp {'eq' if self._decided[id(one)] else 'ne'} i32 0, 0"
        if one.op == "ult" and right == str(1 << 31) and self._fits(left):
            return f"icmp sgt i32 {self._of(left)}, -1"
        if self._fits(left) and self._fits(right):
            return f"icmp {one.op} i32 {self._of(left)}, {self._of(right)}"
        return ""

    def _truncation(self, one: Instruction) -> str:
        value, width = one.operands[0], int(one.fields["width"] or 64)
        if width > 32 or not (value in self._whole or value in self._low):
            return ""
        return f"add i32 {self._of(value)}, 0" if width == 32 else f"trunc i32 {self._of(value)} to i{width}"

    def _gep(self, one: Instruction) -> str:
        line = one.line
        for index in {value for value in one.operands if not is_number(value)}:
            if self._fits(index) or index in self._low:
                line = re.sub(rf"(?<=, )i64 {re.escape(index)}(?![\w.$-])", f"i32 {self._of(index)}", line)
        return line if line != one.line else ""

    def _operation(self, one: Instruction) -> str:
        whole = one.result in self._whole
        values = [self._of(value) for value in one.operands]
        if one.kind == "phi":
            return "phi i32 " + ", ".join(
                f"[ {value}, %{source} ]" for value, source in zip(values, one.sources, strict=True)
            )
        if one.kind == "select":
            return f"select i1 {one.fields['condition']}, i32 {values[0]}, i32 {values[1]}"
        if one.kind == "freeze":
            return f"freeze i32 {values[0]}"
        if one.kind == "extremum":
            return f"call i32 @llvm.{one.op}.i32(i32 {values[0]}, i32 {values[1]})"
        flags = " exact" if "exact" in (one.fields["flags"] or "") and whole else ""
        if whole and one.op in ("add", "sub", "mul", "shl"):
            flags = " nuw nsw" if all(map(self._is_positive, [one.result, *one.operands])) else " nsw"
        return f"{one.op}{flags} i32 {values[0]}, {values[1]}"

    def _of(self, value: str) -> str:
        """The low 32 bits of a value."""
        if is_number(value):
            low = int(value) & 0xFFFFFFFF if value.lstrip("-").isdigit() else None
            return value if low is None else str(low - (1 << 32) if low >> 31 else low)
        if value not in self._whole and value not in self._low:
            self._cut.add(value)
        return _short(value)


def _short(value: str) -> str:
    return f"%short.{value[1:]}"
