"""A function of LLVM IR, read from its text as far as 64-bit integers go; LLVM 14 and 20 write them alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
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
    "saturated": rf"(?:tail )?call i64 @llvm\.(?P<op>ssub)\.sat\.i64"
    rf"\({_ARGUMENT}(?P<a>{_VALUE}), {_ARGUMENT}(?P<b>{_VALUE})\)(?: #\d+)?",
    "extension": rf"(?P<op>sext|zext)(?: nneg)? i(?P<width>\d+) (?P<narrow>{NAME}) to i64",
    "truncation": rf"trunc(?: nuw| nsw)* i64 (?P<a>{NAME}) to i(?P<width>\d+)",
    "comparison": rf"icmp(?: samesign)? (?P<op>\w+) i64 (?P<a>{_VALUE}), (?P<b>{_VALUE})",
    "to_float": rf"(?P<op>sitofp|uitofp)(?: nneg)? i64 (?P<a>{NAME}) to (?P<type>\w+)",
    "conjunction": rf"(?:and i1 (?P<first>{NAME}), (?P<second>{NAME})"
    rf"|select i1 (?P<left>{NAME}), i1 (?P<right>{NAME}), i1 false)",
    "id": r"(?:extractelement <3 x i64> .*|(?:tail )?call [^@]*i64 @_Z\d+get_\w+_(?:id|size|groups)j\(.*)",
}
_PATTERNS: Final = {kind: re.compile(pattern + "$") for kind, pattern in _KINDS.items()}


def is_number(value: str) -> bool:
    """True if it is a constant."""
    return not value.startswith("%")


@dataclass
class LlvmInstruction:
    """One line.

    Attributes:
        line: the text.
        block: its label.
        result: the name of its value, or "".
        kind: of `_KINDS`, "phi", "gep", "label", "branch" or "other".
        op: which of its kind.
        operands: of 64 bits, names or decimal numbers.
        fields: groups of its pattern; of a phi, labels of where the operands come from.
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
        head: its line ``define ...``.
        instructions: of its body.
        values: where a value is computed.
        uses: the instructions that mention a value.
        parameters: names, in order.
        predecessors: of each block.
    """

    def __init__(self, head: str, lines: list[str]) -> None:
        self.head = head
        self.parameters = _PARAMETER.findall(head[head.index("(") : head.rindex(")")])
        self.instructions = list(_read(lines))
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
        """What was read."""
        return "\n".join([self.head, *(one.line for one in self.instructions), "}"])


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
