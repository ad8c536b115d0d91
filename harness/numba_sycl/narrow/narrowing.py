"""Rewrite a kernel's index arithmetic in 32 bits, as far as :mod:`intervals` proves that nothing is lost.

Two kinds of values are narrowed. A value that *fits*, as do its operands, is the same number in 32 bits. Of a value
that may be larger but is only the index of an array's element, the low 32 bits are enough: the array has fewer than
2**31 elements, so an index that is in bounds fits although what it was computed from may not (:mod:`indices`).

An index is first one sum (:mod:`spellings`), of which nothing has to be proved but that its element is accessed. What a
loop leaves as it is, or several addresses share, and what counts by constants, then become steps of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

from numba_sycl.narrow import BOUND
from numba_sycl.narrow.function_text import ALL, NARROW, Function, IntegerRange, range_of
from numba_sycl.narrow.indices import Addresses, Wrapped, base_of, counts, leads_to_elements, wrapped_indices
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
    return _Rewriting(function, known, elements).text()


class _Rewriting:
    def __init__(self, function: Function, known: Mapping[str, IntegerRange], elements: Mapping[str, str]) -> None:
        self._function = function
        self._addresses = Addresses(function, elements)
        self._known = known
        found = wrapped_indices(function)
        others = {id(one.test) for one in found if not self._has_low_sign(one)}
        wrapped = [one for one in found if id(one.test) not in others]
        self._wrapped = {id(one.test) for one in wrapped}
        self._from_end = {one.result: one for one in wrapped}
        below = (0, BOUND - 1)  # whenever there is an access
        self._intervals = Intervals(function, {**known, **{one.result: below for one in wrapped}})
        self._decided = {id(one): answer for one in function.instructions if (answer := self._outcome(one)) is not None}
        self._whole = {one.result for one in function.instructions if one.kind in _COMPUTED and self._is_exact(one)}
        self._whole |= self._from_end.keys()
        self._low = self._find_low()
        self._cut: set[str] = set()  # wide values of which 32 bits are used

    def _has_low_sign(self, one: Wrapped) -> bool:
        """True if the low bits of an index have its sign: it is used where it is within the extent on either side."""
        fits = is_number(one.extent) or _is_narrow(*self._known.get(one.extent, ALL))
        return fits and leads_to_elements(self._function, one.result, self._addresses.index)

    def _outcome(self, one: LlvmInstruction) -> bool | None:
        """The result of a comparison that is always the same, such as whether an index is negative."""
        return None if one.kind != "comparison" or self._function.is_assumed(one) else self._intervals.answer(one)

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
        if not self._fits(one.result):
            return False
        if one.op in ("smin", "smax"):
            return all(self._fits(value) or self._stops(value, one.op) for value in one.operands)
        if not all(map(self._fits, one.operands)):
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
        if use.result in self._from_end or {id(use)} & (self._wrapped | self._decided.keys()) or self._is_halved(use):
            return True
        if use.kind == "extremum" and use.result in self._whole:
            return not self._fits(value)
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
        if one.kind == "extremum" and one.result in self._whole and not self._is_constant(one.result):
            return self._extremum(one)
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

    def _stops(self, value: str, op: str) -> bool:
        """True if a sum with a constant, which may not fit, gives the same least or largest number if it stops."""
        one = self._function.values.get(value)
        if one is None or one.op != "add" or not is_number(one.operands[1]) or not all(map(self._fits, one.operands)):
            return False
        return (int(one.operands[1]) > 0) == (op == "smin")

    def _stopped(self, value: str, name: str) -> tuple[str, str]:
        """Lines of a sum with a constant that stops at the end of 32 bits, none for what fits; and its value."""
        if self._fits(value):
            return "", self._of(value)
        number, constant = self._function.values[value].operands
        op, end = ("smin", range_of(NARROW)[1]) if int(constant) > 0 else ("smax", range_of(NARROW)[0])
        limited = f"  {name}.end = call i32 @llvm.{op}.i32(i32 {self._of(number)}, i32 {end - int(constant)})\n"
        return f"{limited}  {name} = add nsw i32 {name}.end, {constant}\n", name

    def _truncation(self, one: LlvmInstruction) -> str:
        value, width = one.operands[0], int(one.type[1:])
        if width > 32 or not (value in self._whole or value in self._low):
            return ""
        return f"add i32 {self._of(value)}, 0" if width == 32 else f"trunc i32 {self._of(value)} to i{width}"

    def _parts(self, one: LlvmInstruction, index: str) -> list[list[str]]:
        """The summands of an element's index: those that a loop leaves as they are, others, and constants.

        Each part is a step of the address: a GPU's compiler computes the first once, and has the last, which counts by
        constants, in its messages. One of them need not be known to fit: it is the index, which does, without the
        others.
        """
        if any(use.kind != "gep" for use in self._function.uses[index]):  # the sum is needed as it is
            return []
        loop, array = self._function.loop_of(one.block), base_of(one)

        def is_shared(value: str) -> bool:
            return not loop and not is_number(value) and self._steps_of[array, value] > 1

        stays: list[str] = []
        changes: list[str] = []
        counted: list[str] = []
        summands = self._summands(index, is_shared)
        counts_on = any(counts(self._function, value) and not is_number(value) for value in summands)
        for value in summands:
            definition = self._function.values.get(value)
            is_before = bool(loop) and (definition is None or definition.block not in loop)
            if counts(self._function, value) and not (is_number(value) and counts_on):
                counted.append(value)
            else:
                (stays if is_before or is_shared(value) else changes).append(value)
        for parts in ([stays, changes, counted], [stays + changes, counted], [stays, changes + counted]):
            some = [part for part in parts if part]
            if len(some) > 1 and self._may_be_steps(some):
                return some
        return []

    def _may_be_steps(self, parts: list[list[str]]) -> bool:
        """True if all parts of an index fit, and none but constants is negative."""
        sums = [self._sum_of(part) for part in parts]
        unknown = [one for one in sums if not _is_narrow(*one)]
        if len(unknown) > 1:
            return False
        known = [one for one in sums if one not in unknown]
        low, high = (sum(ends) for ends in zip(*known, strict=True))
        return (
            low > -BOUND
            and high <= 2 * BOUND
            and all(one[0] >= 0 or (one in unknown and high <= 0) for one in sums[:-1])
        )

    def _sum_of(self, values: list[str]) -> IntegerRange:
        lows, highs = zip(*map(self._intervals.of, values), strict=True) if values else ((0,), (0,))
        return sum(lows), sum(highs)

    def _summands(self, value: str, is_whole: Callable[[str], bool]) -> list[str]:
        one = self._function.values.get(value)
        if one is None or one.op != "add" or is_whole(value) or counts(self._function, value):
            return [value]
        return [part for operand in one.operands for part in self._summands(operand, is_whole)]

    @cached_property
    def _steps_of(self) -> Counter[tuple[str, str]]:
        """The number of addresses of an array in whose sum a number is."""
        found: Counter[tuple[str, str]] = Counter()
        for one in self._function.instructions:
            if one.kind != "gep" or not (index := self._addresses.index(one)):
                continue
            parts, waiting = set(), [index]
            while waiting:
                parts.add(value := waiting.pop())
                definition = self._function.values.get(value)
                waiting += definition.operands if definition is not None and definition.op == "add" else []
            found.update((base_of(one), value) for value in parts)
        return found

    def _gep(self, one: LlvmInstruction) -> str:
        pointer, *indices = one.parts[1:]
        element = self._addresses.index(one)
        if element and (parts := self._parts(one, element)):
            return self._steps(one, parts)
        if element:
            return self._element(one, one.result, pointer, self._of(element))
        for at, index in enumerate(indices):
            kind, _, value = index.partition(" ")
            if kind == "i64" and not is_number(value) and self._fits(value):
                indices[at] = f"i32 {self._of(value)}"
        return "" if indices == one.parts[2:] else _address(one, one.result, pointer, *indices)

    def _steps(self, one: LlvmInstruction, parts: list[list[str]]) -> str:
        """The address of an element in several steps."""
        if any(self._sum_of(part)[0] < 0 for part in parts):  # the others may lead beyond the array
            one = replace(one, flags=[])
        lines, (_, pointer, _) = [], one.parts
        for at, part in enumerate(parts):
            name = one.result if part is parts[-1] else f"{_short(one.result)}.step{at}"
            added, total = self._sum(f"{_short(one.result)}.part{at}", part)
            is_positive = part is not parts[-1] or self._sum_of(part)[0] >= 0
            lines += added
            lines.append(
                self._element(one, name, pointer, total)
                if is_positive
                else _address(one, name, pointer, f"i32 {total}")
            )
            pointer = f"{pointer.rpartition(' ')[0]} {name}"
        return "\n".join(lines)

    def _element(self, one: LlvmInstruction, name: str, pointer: str, index: str) -> str:
        """The address of an element, whose index a GPU's compiler has to see that it is not negative."""
        wide = f"{_short(name)}.index"
        return f"  {wide} = zext i32 {index} to i64\n" + _address(one, name, pointer, f"i64 {wide}")

    def _sum(self, name: str, values: list[str]) -> tuple[list[str], str]:
        """Lines that add numbers, and their sum, which fits."""
        flags = "nuw nsw " if all(map(self._is_positive, values)) else ""
        total, lines = self._of(values[0]), []
        for number, value in enumerate(values[1:]):
            lines.append(f"  {name}.{number} = add {flags}i32 {total}, {self._of(value)}")
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
        }[one.kind]

    def _extremum(self, one: LlvmInstruction) -> str:
        lines, values = zip(
            *(self._stopped(value, f"{_short(one.result)}.sum{at}") for at, value in enumerate(one.operands)),
            strict=True,
        )
        return f"{''.join(lines)}  {_short(one.result)} = call i32 @llvm.{one.op}.i32(i32 {', i32 '.join(values)})"

    def _binary(self, one: LlvmInstruction, values: list[str]) -> str:
        whole = one.result in self._whole
        flags = " exact" if "exact" in one.flags and whole else ""
        if one.op in ("add", "sub", "mul", "shl"):
            rises = whole and all(map(self._is_positive, (one.result, *one.operands)))
            flags = " nuw nsw" if rises else " nsw" if whole else ""
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
