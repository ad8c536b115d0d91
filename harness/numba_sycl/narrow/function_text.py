"""A function of LLVM IR, read from its text as far as 64-bit integers go; LLVM 14 and 20 write them alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Final

NAME: Final = r"%[\w.$-]+"
_VALUE: Final = rf"(?:{NAME}|-?\d+)"
_RESULT: Final = re.compile(rf"^ +(?P<result>{NAME}) = (?P<body>.*?)(?:, !\w+ !\d+)*$")
_LABEL: Final = re.compile(r"^([\w.$-]+):")
_INCOMING: Final = re.compile(rf"\[ ({_VALUE}|undef|poison), %([\w.$-]+) \]")
_GEP_INDEX: Final = re.compile(rf", i64 ({_VALUE})(?=,|$)")
_BRANCH: Final = re.compile(rf"^ +br i1 (?P<condition>{NAME}), label %(?P<then>[\w.$-]+), label %(?P<other>[\w.$-]+)")
_PARAMETER: Final = re.compile(rf" ({NAME})(?=, |$)")
_TARGET: Final = re.compile(r"label %([\w.$-]+)")

_ARGUMENT: Final = r"i64 (?:noundef )?(?:range\(i64 -?\d+, -?\d+\) )?"
_BINARY: Final = "add|sub|mul|shl|and|or|xor|ashr|lshr|sdiv|srem|udiv|urem"
#: By kind: a pattern whose groups a and b are operands of 64 bits.
_KINDS: Final = {
    "binary": rf"(?P<op>{_BINARY})(?P<flags>(?: nuw| nsw| exact| disjoint)*) i64 (?P<a>{_VALUE}), (?P<b>{_VALUE})",
    "select": rf"select i1 (?P<condition>[\w%.$-]+), i64 (?P<a>{_VALUE}), i64 (?P<b>{_VALUE})",
    "freeze": rf"freeze i64 (?P<a>{NAME})",
    "extremum": rf"(?:tail )?call i64 @llvm\.(?P<op>smin|smax|umin|umax)\.i64"
    rf"\({_ARGUMENT}(?P<a>{_VALUE}), {_ARGUMENT}(?P<b>{_VALUE})\)(?: #\d+)?",
    "saturated": rf"(?:tail )?call i64 @llvm\.(?P<op>ssub|sadd)\.sat\.i64"
    rf"\({_ARGUMENT}(?P<a>{_VALUE}), {_ARGUMENT}(?P<b>{_VALUE})\)(?: #\d+)?",
    "extension": rf"(?P<op>sext|zext)(?: nneg)? i(?P<width>\d+) (?P<narrow>{NAME}) to i64",
    "truncation": rf"trunc(?: nuw| nsw)* i64 (?P<a>{NAME}) to i(?P<width>\d+)",
    "comparison": rf"icmp(?: samesign)? (?P<op>\w+) i64 (?P<a>{_VALUE}), (?P<b>{_VALUE})",
    "to_float": rf"(?P<op>sitofp|uitofp)(?: nneg)? i64 (?P<a>{NAME}) to (?P<type>\w+)",
    "conjunction": rf"(?:and i1 (?P<first>{NAME}), (?P<second>{NAME})"
    rf"|select i1 (?P<left>{NAME}), i1 (?P<right>{NAME}), i1 false)",
    "id": r"(?:extractelement <3 x i64> .*|(?:tail )?call [^@]*i64 @_Z\d+get_\w+_(?:id|size|groups)j\(.*)",
}
#: What a line begins with: labels, comments and ends of lists have no opcode.
_OPCODE: Final = re.compile(rf"^ +(?:{NAME} = )?(?:(?:tail|musttail|notail) )?(?P<opcode>[a-z]\w*)(?= |$)")
_BARE: Final = re.compile(r"^(?: *(?:;.*)?|\S.*:.*| +\]| +i\d+ -?\d+, label .*)$")
#: Opcodes of which those above have the forms for integers of 64 bits.
_MODELLED: Final = frozenset(
    (*_BINARY.split("|"), "select", "freeze", "sext", "zext", "trunc", "icmp", "sitofp", "uitofp", "phi")
)
#: Opcodes of which nothing needs to be known: they take numbers as they are, and may give any.
_OPAQUE: Final = frozenset(
    (
        *("load", "store", "alloca", "fence", "cmpxchg", "atomicrmw", "call", "ret", "br", "switch", "unreachable"),
        *("extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue", "getelementptr"),
        *("fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp", "fptosi", "fptoui", "fptrunc", "fpext"),
        *("bitcast", "addrspacecast", "ptrtoint", "inttoptr"),
    )
)
_OF_64_BITS: Final = re.compile(r"\bi64 (?:%|-?\d)|(?:[sz]ext) .* to i64$")
_PATTERNS: Final = {kind: re.compile(pattern + "$") for kind, pattern in _KINDS.items()}


def is_number(value: str) -> bool:
    """True if it is a constant."""
    return not value.startswith("%")


@dataclass
class LlvmInstruction:
    """One line.

    Attributes:
        line: text of the line.
        block: label of its block.
        result: name of its value, or "".
        kind: kind from `_KINDS`, or "phi", "gep", "label", "branch" or "other".
        op: operation within its kind.
        operands: 64-bit operands, names or decimal numbers.
        fields: groups of its pattern; for a phi, the labels of its operands.
    """

    line: str
    block: str
    result: str = ""
    kind: str = "other"
    op: str = ""
    operands: list[str] = field(default_factory=list)
    fields: dict[str, str | None] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)


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
        self.parameters = _PARAMETER.findall(head[head.index("(") : head.rindex(")")])
        self.instructions = list(_read(lines))
        self.unknown = next((one.line for one in self.instructions if not _is_known(one)), "")
        self.values = {one.result: one for one in self.instructions if one.result}
        self.uses: dict[str, list[LlvmInstruction]] = defaultdict(list)
        self.predecessors: dict[str, list[str]] = defaultdict(list)
        self.branches: dict[str, LlvmInstruction] = {}
        for one in self.instructions:
            for name in set(re.findall(NAME, one.line)) - {one.result}:
                self.uses[name].append(one)
            if one.kind == "branch":
                self.branches[one.block] = one
            if one.line.startswith(("  br ", "  switch ", "    i")):
                for target in _TARGET.findall(one.line):
                    self.predecessors[target].append(one.block)

    def text(self) -> str:
        """The text that was read."""
        return "\n".join([self.head, *(one.line for one in self.instructions), "}"])


def _is_known(one: LlvmInstruction) -> bool:
    if one.kind != "other" or _BARE.match(one.line):
        return True
    opcode = match["opcode"] if (match := _OPCODE.match(one.line)) else ""
    if opcode in _MODELLED:
        return _OF_64_BITS.search(one.line.partition(" = ")[2]) is None
    return opcode in _OPAQUE


def _read(lines: list[str]) -> Iterator[LlvmInstruction]:
    block = ""
    for line in lines:
        if label := _LABEL.match(line):
            block = label[1]
            yield LlvmInstruction(line, block, kind="label")
        elif match := _RESULT.match(line):
            yield _instruction(line, block, match["result"], match["body"])
        elif match := _BRANCH.match(line):
            yield LlvmInstruction(line, block, kind="branch", fields=match.groupdict())
        else:
            yield LlvmInstruction(line, block)


def _instruction(line: str, block: str, result: str, body: str) -> LlvmInstruction:
    if body.startswith("phi i64 "):
        incoming = _INCOMING.findall(body)
        if len(incoming) == body.count("[ "):
            values, sources = map(list, zip(*incoming, strict=True))
            return LlvmInstruction(line, block, result, "phi", "phi", values, sources=sources)
    if body.startswith("getelementptr "):
        return LlvmInstruction(line, block, result, "gep", "gep", _GEP_INDEX.findall(body))
    for kind, pattern in _PATTERNS.items():
        if match := pattern.match(body):
            groups = match.groupdict()
            operands = [groups[name] for name in ("a", "b") if groups.get(name)]
            return LlvmInstruction(line, block, result, kind, groups.get("op") or kind, operands, groups)
    return LlvmInstruction(line, block, result)


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
    if one is not None and one.kind == "extension" and (width := int(one.fields["width"] or 64)) < 64:
        low = 0 if one.op == "zext" else -(1 << (width - 1))
        return low, (1 << (width - (one.op == "sext" or " nneg " in one.line))) - 1
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


def is_moderate(interval: IntegerRange) -> bool:
    """True if sums of two such numbers fit 64 bits."""
    return interval[0] > ALL[0] // 2 and interval[1] < -(ALL[0] // 2)


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
