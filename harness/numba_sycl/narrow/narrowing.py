"""Rewrite a kernel's index arithmetic in 32 bits, as far as :mod:`intervals` proves that nothing is lost.

Two kinds of values are narrowed. A value that *fits*, as do its operands, is the same number in 32 bits. Of a value
that may be larger but is only the index of an array's element, the low 32 bits are enough: the array has fewer than
2**31 elements, so an index that is in bounds fits although what it was computed from may not (:mod:`indices`).

An index that is a sum of what stays and of what counts by constants becomes two steps of an address: a GPU's compiler
computes the first once, and has the second in its messages.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from numba_sycl.narrow import BOUND
from numba_sycl.narrow.function_text import NARROW, Function, IntegerRange, range_of
from numba_sycl.narrow.indices import Addresses, Wrapped, base_of, counts, parts_of_indices, wrapped_indices
from numba_sycl.narrow.intervals import Intervals
from numba_sycl.narrow.llvm_line import LlvmInstruction, is_number

_COMPUTED: Final = ("binary", "phi", "select", "freeze", "extremum", "saturated")
# operations whose low 32 bits depend on no others
_OF_LOW_BITS: Final = ("add", "sub", "mul", "and", "or", "xor", "shl", "phi", "select", "freeze")


def narrowed(
    function: Function,
    known: Mapping[str, IntegerRange],
    elements: Mapping[str, str],
) -> str:
    """The function with its index arithmetic in 32 bits.

    Args:
        function: function whose values all have names.
        known: intervals of parameters and ids.
        elements: the arrays among the parameters, with LLVM's type of their elements.
    """
    wrapped = wrapped_indices(function)
    while True:
        rewriting = _Rewriting(function, known, elements, wrapped)
        bounded = [one for one in wrapped if rewriting.is_bounded(one)]
        if bounded == wrapped:
            return rewriting.text()
        tests = {id(one.test) for one in wrapped if one not in bounded}
        wrapped = [one for one in bounded if id(one.test) not in tests]


class _Rewriting:
    def __init__(
        self,
        function: Function,
        known: Mapping[str, IntegerRange],
        elements: Mapping[str, str],
        wrapped: Sequence[Wrapped],
    ) -> None:
        self._function = function
        self._wrapped = {id(one.test) for one in wrapped}
        self._from_end = {one.result: one for one in wrapped}
        below = (0, BOUND - 1)  # whenever there is an access
        self._intervals = Intervals(function, {**known, **{one.result: below for one in wrapped}})
        self._addresses = Addresses(function, elements, self._intervals.of)
        self._decided = {id(one): answer for one in function.instructions if (answer := self._outcome(one)) is not None}
        self._whole = {one.result for one in function.instructions if one.kind in _COMPUTED and self._is_exact(one)}
        self._low = self._find_low()
        self._bounded = parts_of_indices(function, self._low | self._whole, self._intervals.of, self._addresses.index)
        self._cut: set[str] = set()  # wide values of which 32 bits are used

    def _outcome(self, one: LlvmInstruction) -> bool | None:
        """The result of a comparison that is always the same, such as whether an index is negative."""
        return None if one.kind != "comparison" or self._function.is_assumed(one) else self._intervals.answer(one)

    def is_bounded(self, one: Wrapped) -> bool:
        """True if an access bounds an index that counts from the end, so that its low bits have its sign."""
        return one.result in self._bounded and one.result in self._low | self._whole and self._fits(one.extent)

    def _fits(self, value: str) -> bool:
        return _is_narrow(*self._intervals.of(value))

    def _is_constant(self, value: str) -> bool:
        low, high = self._intervals.of(value)
        return low == high and self._fits(value)

    def _is_positive(self, value: str) -> bool:
        return self._intervals.of(value)[0] >= 0

    def _is_exact(self, one: LlvmInstruction) -> bool:
        """True if the operation gives the same number in 32 bits."""
        if self._is_constant(one.result):
            return True
        if not self._fits(one.result) or not all(map(self._fits, one.operands)):
            return False
        if one.op in ("shl", "lshr", "ashr") and not (one.operands[1].isdigit() and int(one.operands[1]) < NARROW):
            return False
        unsigned = one.op in ("lshr", "udiv", "urem", "umin", "umax")
        return not unsigned or all(map(self._is_positive, one.operands))

    def _find_low(self) -> set[str]:
        """The largest set of values of which only the low bits count."""
        found = {
            one.result
            for one in self._function.instructions
            if one.kind in _COMPUTED and one.op in _OF_LOW_BITS and one.result not in self._whole
            if one.op != "shl" or (one.operands[1].isdigit() and int(one.operands[1]) < NARROW)
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

    def _takes_low(self, use: LlvmInstruction, value: str, low: set[str]) -> bool:
        if use.kind == "truncation":
            return int(use.type[1:]) <= 32  # of the text
        if id(use) in self._decided or id(use) in self._wrapped or self._is_halved(use):
            return True
        if use.kind == "gep":
            return self._addresses.index(use) == value
        if use.result in low and use.kind in _COMPUTED:
            return value in use.operands and use.condition != value
        return False

    def text(self) -> str:
        """The rewritten function."""
        rewritten = {id(one): line for one in self._function.instructions if (line := self._rewritten(one))}
        wide = {name for name in self._whole if any(id(use) not in rewritten for use in self._function.uses[name])}
        lines = [self._function.head]
        waiting: list[str] = []  # what has to stand after a block's phis
        parameters = [name for name in self._function.parameters if name in self._cut]
        begun = False
        for one in self._function.instructions:
            is_phi = one.opcode == "phi"
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

    def _rewritten(self, one: LlvmInstruction) -> str:
        """The line in 32 bits; "" where it stays."""
        if one.result in self._from_end:
            return self._index_from_start(self._from_end[one.result])
        if one.result in self._whole or one.result in self._low:
            return f"  {_short(one.result)} = {self._operation(one)}"
        body = ""
        if one.kind == "comparison" and id(one) not in self._wrapped and self._is_halved(one):
            return self._halved(one)
        if one.kind == "comparison":
            body = self._comparison(one)
        elif one.kind == "truncation":
            body = self._truncation(one)
        elif one.kind == "to_float" and self._fits(one.operands[0]):
            if one.op == "sitofp" or self._is_positive(one.operands[0]):
                body = f"sitofp i32 {self._of(one.operands[0])} to {one.type}"
        elif one.kind == "gep":
            return self._gep(one)
        return body and f"  {one.result} = {body}"

    def _index_from_start(self, one: Wrapped) -> str:
        """The lesser of the index and its sum with the extent, as unsigned numbers: there negative ones are large."""
        index, more = self._of(one.test.operands[0]), f"{_short(one.result)}.end"
        return (
            f"  {more} = add i32 {index}, {self._of(one.extent)}\n"
            f"  {_short(one.result)} = call i32 @llvm.umin.i32(i32 {index}, i32 {more})"
        )

    def _comparison(self, one: LlvmInstruction) -> str:
        left, right = one.operands
        if id(one) in self._decided:
            return f"icmp {'eq' if self._decided[id(one)] else 'ne'} i32 0, 0"
        if one.op == "ult" and right == str(1 << (NARROW - 1)) and self._fits(left):
            return f"icmp sgt i32 {self._of(left)}, -1"
        if one.op in ("eq", "ne") and (after := self._number_after(one)):
            return f"icmp {'sge' if one.op == 'eq' else 'slt'} i32 {self._of(after[0])}, {self._of(after[1])}"
        if id(one) in self._wrapped or (self._fits(left) and self._fits(right)):
            return f"icmp {one.op} i32 {self._of(left)}, {self._of(right)}"
        return ""

    def _is_halved(self, one: LlvmInstruction) -> bool:
        """True if a sum, which needs 33 bits, is compared with a constant: halves of both give the same result."""
        if one.op not in ("sgt", "slt") or not is_number(one.operands[1]) or id(one) in self._decided:
            return False
        total = self._function.values.get(one.operands[0])
        is_sum = total is not None and total.op == "add" and all(map(self._fits, total.operands))
        return is_sum and not self._fits(one.operands[0])

    def _halved(self, one: LlvmInstruction) -> str:
        """``a + b > c``: half of the sum, rounded down where c is odd, else up, is above half of c, rounded down."""
        values = [self._of(value) for value in self._function.values[one.operands[0]].operands]
        above = int(one.operands[1]) - (one.op == "slt")  # not above c - 1 is below c
        common, correct = ("and", "add") if above % 2 else ("or", "sub")
        name, both = _short(one.result), f"i32 {values[0]}, {values[1]}"
        return "\n".join(
            (
                f"  {name}.common = {common} {both}",
                f"  {name}.other = xor {both}",
                f"  {name}.rest = ashr i32 {name}.other, 1",
                f"  {name}.half = {correct} i32 {name}.common, {name}.rest",
                f"  {one.result} = icmp {'sgt' if one.op == 'sgt' else 'sle'} i32 {name}.half, {above >> 1}",
            )
        )

    def _number_after(self, one: LlvmInstruction) -> tuple[str, str] | None:
        """The next number and the stop for ``number == stop - 1``, in a loop that counts by one up to it."""
        number, last = one.operands
        before = self._function.values.get(last)
        if before is None or before.op != "add" or before.operands[1] != "-1" or last not in self._whole:
            return None
        if (number, last) not in self._intervals.counted:
            return None
        for use in self._function.uses[number]:
            is_next = use.op == "add" and use.operands == [number, "1"] and use.result in self._whole
            if is_next and use.block == one.block and self._stands_before(use, one):
                return use.result, before.operands[0]
        return None

    def _stands_before(self, one: LlvmInstruction, other: LlvmInstruction) -> bool:
        return self._function.instructions.index(one) < self._function.instructions.index(other)

    def _truncation(self, one: LlvmInstruction) -> str:
        value, width = one.operands[0], int(one.type[1:])
        if width > 32 or not (value in self._whole or value in self._low):
            return ""
        return f"add i32 {self._of(value)}, 0" if width == 32 else f"trunc i32 {self._of(value)} to i{width}"

    def _parts(self, index: str) -> tuple[list[str], list[str]] | None:
        """The two parts of an index: the one that stays, and the one that counts by constants; None without them."""
        if index not in self._bounded and index not in self._whole:
            return None
        if any(use.kind != "gep" for use in self._function.uses[index]):  # the sum is needed as it is
            return None
        parts: tuple[list[str], list[str]] = [], []
        for value in self._summands(index, 0):
            parts[counts(self._function, value)].append(value)
        bounded = index in self._bounded and all(map(self._is_positive, itertools.chain(*parts)))
        if not (all(parts) and (bounded or all(map(self._sum_fits, parts)))):
            return None
        return parts

    def _sum_fits(self, values: list[str]) -> bool:
        intervals = [self._intervals.of(value) for value in values]
        return _is_narrow(sum(low for low, _ in intervals), sum(high for _, high in intervals))

    def _summands(self, value: str, depth: int) -> list[str]:
        one = self._function.values.get(value)
        if one is None or depth > 3 or one.op != "add" or counts(self._function, value):
            return [value]
        return [part for operand in one.operands for part in self._summands(operand, depth + 1)]

    def _gep(self, one: LlvmInstruction) -> str:
        parts = self._parts(one.operands[0]) if base_of(one) and not is_number(one.operands[0]) else None
        pointer, *indices = one.parts[1:]
        if parts:
            start = f"{_short(one.result)}.start"
            if not all(map(self._is_positive, itertools.chain(*parts))):  # the first may lead beyond the array
                one = replace(one, flags=[])
            lines, (stays, counted) = zip(
                *(self._sum(start + str(k), part) for k, part in enumerate(parts)), strict=True
            )
            first = _address(one, start, pointer, f"i32 {stays}")
            second = _address(one, one.result, pointer.replace(base_of(one), start), f"i32 {counted}")
            return "\n".join([*itertools.chain(*lines), first, second])
        before = ""
        for at, index in enumerate(indices):
            kind, _, value = index.partition(" ")
            if kind != "i64" or is_number(value) or not (self._fits(value) or value in self._low):
                continue
            indices[at] = f"i32 {self._of(value)}"
            if value in self._bounded:  # a GPU's compiler has to see that it is not negative
                wide = f"{_short(one.result)}.index"
                before = f"  {wide} = zext {indices[at]} to i64\n"
                indices[at] = f"i64 {wide}"
        return "" if indices == one.parts[2:] else before + _address(one, one.result, pointer, *indices)

    def _sum(self, name: str, values: list[str]) -> tuple[list[str], str]:
        """Lines that add numbers, and their sum, which fits."""
        flags = "nuw nsw" if all(map(self._is_positive, values)) else "nsw"
        total, lines = self._of(values[0]), []
        for number, value in enumerate(values[1:]):
            lines.append(f"  {name}.{number} = add {flags} i32 {total}, {self._of(value)}")
            total = f"{name}.{number}"
        return lines, total

    def _operation(self, one: LlvmInstruction) -> str:
        if self._is_constant(one.result) and one.kind != "phi":
            return f"add i32 {self._intervals.of(one.result)[0]}, 0"
        values = [self._of(value) for value in one.operands]
        if one.kind == "binary":
            return self._binary(one, values)
        if one.kind == "phi":
            sources = (source for _, source in one.incoming)
            return "phi i32 " + ", ".join(
                f"[ {value}, %{source} ]" for value, source in zip(values, sources, strict=True)
            )
        return {
            "select": f"select i1 {one.condition}, i32 {', i32 '.join(values)}",
            "freeze": f"freeze i32 {values[0]}",
            "saturated": f"{one.op[1:]} nsw i32 {', '.join(values)}",
            "extremum": f"call i32 @llvm.{one.op}.i32(i32 {', i32 '.join(values)})",
        }[one.kind]

    def _binary(self, one: LlvmInstruction, values: list[str]) -> str:
        whole, bounded = one.result in self._whole, one.result in self._bounded
        flags = " exact" if "exact" in one.flags and whole else ""
        if one.op in ("add", "sub", "mul", "shl"):
            positive = all(map(self._is_positive, one.operands))
            rises = positive and (bounded or (whole and self._is_positive(one.result)))
            flags = " nuw nsw" if rises else " nsw" if whole else ""
        if one.op == "and" and bounded and is_number(one.operands[1]):
            values[1] = str(int(values[1]) & range_of(NARROW)[1])  # which says that it is not negative
        return f"{one.op}{flags} i32 {values[0]}, {values[1]}"

    def _of(self, value: str) -> str:
        """The low 32 bits of a value."""
        if is_number(value):
            return str(_low_bits(int(value))) if value.lstrip("-").isdigit() else value
        if value not in self._whole and value not in self._low:
            self._cut.add(value)
        return _short(value)


def _is_narrow(low: int, high: int) -> bool:
    least, most = range_of(NARROW)
    return least <= low and high <= most


def _low_bits(number: int) -> int:
    """The number of fewer bits that these of a number are."""
    sign = 1 << (NARROW - 1)
    return ((number + sign) & (2 * sign - 1)) - sign


def _short(value: str) -> str:
    return f"%short.{value[1:]}"


def _address(gep: LlvmInstruction, name: str, pointer: str, *indices: str) -> str:
    """The line of an address with another name, or from another pointer, or with other indices."""
    return f"  {name} = getelementptr {' '.join((*gep.flags, gep.type))}, {', '.join((pointer, *indices))}"
