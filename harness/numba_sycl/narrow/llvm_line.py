"""A line of a function in LLVM's text, taken apart, with its operands where they are integers of 64 bits.

LLVM 14 and 20 to 22 write alike what is read here. A line whose effect on such integers is not known says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

#: Names of values and blocks. They may stand anywhere in a line, such as within types or the constants of a call.
NAME: Final = re.compile(r"%[\w.$-]+")

BINARY: Final = frozenset(
    (*("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor"), *("sdiv", "srem", "udiv", "urem"))
)
#: Words that say of numbers what need not be known; a new one of a new LLVM may change what an operation means.
_FLAGS: Final = frozenset(("nuw", "nsw", "exact", "disjoint", "nneg", "samesign"))
_ADDRESS_FLAGS: Final = frozenset(("inbounds", "nuw", "nusw"))
#: Opcodes of which nothing needs to be known: they take numbers as they are, and may give any.
_OPAQUE: Final = frozenset(
    (
        *("load", "store", "alloca", "fence", "cmpxchg", "atomicrmw", "ret", "unreachable"),
        *("insertelement", "shufflevector", "extractvalue", "insertvalue"),
        *("fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp", "fptosi", "fptoui", "fptrunc", "fpext"),
        *("bitcast", "addrspacecast", "ptrtoint", "inttoptr"),
        "]",  # the end of a switch
    )
)


@dataclass
class LlvmInstruction:
    """One line.

    Attributes:
        line: text of the line.
        block: label of its block.
        result: name of its value, or "".
        kind: what it does with integers of 64 bits: "binary", "phi", "select"...; "label"; "unknown"; else "other".
        op: operation within its kind.
        operands: 64-bit operands, names or decimal numbers; of a conjunction, its parts.
        opcode: LLVM's opcode, or "".
        parts: what commas separate behind it; of a call, its arguments.
        flags: words between the opcode and the types.
        type: type that a number is converted from or to; that of the elements of an address.
        condition: condition of a selection or a branch, or "".
        incoming: values of a phi, with the blocks that they come from.
        labels: blocks that it may lead to.
        callee: function that it calls, or "".
    """

    line: str
    block: str
    result: str = ""
    kind: str = "other"
    op: str = ""
    operands: list[str] = field(default_factory=list)
    opcode: str = ""
    parts: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    type: str = ""
    condition: str = ""
    incoming: list[tuple[str, str]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    callee: str = ""

    def _is(self, kind: str, op: str, operands: Sequence[str] = ()) -> None:
        known = _FLAGS.issuperset(self.flags) and all(map(_is_value, operands))
        self.kind, self.op, self.operands = (kind, op, list(operands)) if known else ("unknown", "", [])


def is_number(value: str) -> bool:
    """True if it is a constant."""
    return not value.startswith("%")


def _is_value(value: str) -> bool:
    return not is_number(value) or value.lstrip("-").isdigit()


def last_word(text: str) -> str:
    """The operand in "type operand"."""
    return text.rpartition(" ")[2]


def split(text: str) -> list[str]:
    """The parts of a text between commas that are not in brackets."""
    parts: list[str] = []
    for part in text.split(", "):
        if parts and not _is_closed(parts[-1]):
            parts[-1] += f", {part}"
        else:
            parts.append(part)
    return parts


def _is_closed(text: str) -> bool:
    return all(text.count(opened) == text.count(closed) for opened, closed in ("()", "[]", "{}", "<>"))


def read_line(line: str, block: str) -> LlvmInstruction:
    """Take a line apart.

    Args:
        line: line of a function whose values all have names.
        block: label of the block before it.
    """
    one, text = LlvmInstruction(line, block), line.strip()
    if not line.startswith(" ") and ":" in text.partition(";")[0]:
        one.kind, one.block = "label", text.partition(":")[0]
    if one.kind == "label" or not text or text.startswith(";"):
        return one
    if text.startswith("%"):
        one.result, _, text = text.partition(" = ")
    one.opcode, _, rest = text.removeprefix("tail ").partition(" ")
    one.parts = [part for part in split(rest) if not part.startswith("!")]
    words = one.parts[0].split() if one.parts else []
    if one.opcode in _READERS:
        _READERS[one.opcode](one, words)
    elif one.opcode.startswith("i") and rest.partition(", ")[2].startswith("label "):  # of a switch
        _branch(one, words)
    elif one.opcode not in _OPAQUE:
        one.kind = "unknown"
    return one


def _binary(one: LlvmInstruction, words: Sequence[str]) -> None:
    *one.flags, of, left = words
    if of == "i64":
        one._is("binary", one.opcode, (left, one.parts[1]))
    elif (one.opcode, of) == ("and", "i1") and not any(map(is_number, (left, one.parts[1]))):
        one._is("conjunction", "conjunction", (left, one.parts[1]))


def _select(one: LlvmInstruction, words: Sequence[str]) -> None:
    one.condition = words[-1]
    chosen, other = one.parts[1:]
    if chosen.startswith("i64 "):
        one._is("select", "select", (last_word(chosen), last_word(other)))
    elif other == "i1 false" and not any(map(is_number, (words[-1], last_word(chosen)))):
        one._is("conjunction", "conjunction", (words[-1], last_word(chosen)))


def _compare(one: LlvmInstruction, words: Sequence[str]) -> None:
    if words[-2] == "i64":
        *one.flags, op, _, left = words
        one._is("comparison", op, (left, one.parts[1]))


def _convert(one: LlvmInstruction, words: Sequence[str]) -> None:
    if words[-2] != "to":  # of vectors
        return
    *one.flags, source, value, _, target = words
    if one.opcode in ("sext", "zext") and target == "i64":
        one.type = source
        one._is("extension", one.opcode)
    elif source == "i64":
        one.type = target
        one._is("truncation" if one.opcode == "trunc" else "to_float", one.opcode, (value,))


def _freeze(one: LlvmInstruction, words: Sequence[str]) -> None:
    if words[0] == "i64":
        one._is("freeze", "freeze", words[1:])


def _phi(one: LlvmInstruction, words: Sequence[str]) -> None:
    for part in one.parts:
        value, _, source = part[part.index("[") + 1 : part.rindex("]")].strip().rpartition(", ")
        one.incoming.append((value, source[1:]))
    if words[0] == "i64":
        one.operands = [value for value, _ in one.incoming]
        known = all(_is_value(value) or value in ("undef", "poison") for value in one.operands)
        one.kind, one.op = ("phi", "phi") if known else ("unknown", "")


def _address(one: LlvmInstruction, words: Sequence[str]) -> None:
    one.flags = [word for word in words if word in _ADDRESS_FLAGS]
    one.type = one.parts[0].removeprefix(" ".join(one.flags)).strip()
    indices = [last_word(part) for part in one.parts[2:] if part.startswith("i64 ")]
    one.kind, one.op, one.operands = "gep", "gep", [index for index in indices if _is_value(index)]


def _call(one: LlvmInstruction, words: Sequence[str]) -> None:
    head, _, tail = one.line.partition("@")
    one.callee, _, arguments = tail.partition("(")
    one.callee = one.callee.strip('"')
    one.parts = split(arguments.rpartition(")")[0])
    if last_word(head.rstrip()) != "i64":
        return
    values = [last_word(part) for part in one.parts]
    if one.callee.removeprefix("llvm.").removesuffix(".i64") in ("smin", "smax", "umin", "umax"):
        one._is("extremum", one.callee.split(".")[1], values)
    elif one.callee in ("llvm.sadd.sat.i64", "llvm.ssub.sat.i64"):
        one._is("saturated", one.callee.split(".")[1], values)
    elif "get_" in one.callee and one.callee.endswith(("_idj", "_sizej", "_groupsj")):
        one.kind = "id"


def _element(one: LlvmInstruction, words: Sequence[str]) -> None:
    if one.parts[0].startswith("<3 x i64> "):
        one.kind = "id"


def _branch(one: LlvmInstruction, words: Sequence[str]) -> None:
    one.labels = [part.split()[1][1:] for part in one.parts if part.startswith("label ")]
    if one.opcode == "br" and words[0] == "i1":
        one.kind, one.condition = "branch", words[1]


def _same_reader(
    opcodes: Iterable[str], reader: Callable[[LlvmInstruction, Sequence[str]], None]
) -> dict[str, Callable[[LlvmInstruction, Sequence[str]], None]]:
    return dict.fromkeys(opcodes, reader)


_READERS: Final = {
    **_same_reader(BINARY, _binary),
    **_same_reader(("sext", "zext", "trunc", "sitofp", "uitofp"), _convert),
    **_same_reader(("br", "switch"), _branch),
    "select": _select,
    "icmp": _compare,
    "freeze": _freeze,
    "phi": _phi,
    "getelementptr": _address,
    "call": _call,
    "extractelement": _element,
}
