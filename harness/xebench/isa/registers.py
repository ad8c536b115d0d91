"""The number of registers that a kernel's code occupies, read from its assembly.

On Intel's GPUs every hardware thread has the whole register file, 128 registers or 256, whatever the kernel needs of
it: no compiler says how many it used, so they are counted where the instructions name them. A compiler hands out a free
register before it uses one again, so the count is an upper bound of what the kernel needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from xebench.isa.assembly import Assembly, Instruction

#: ``r12``, ``r12:4`` (four registers of a message), ``r12.3<1;1,0>:ud`` (lanes of a type, in a region).
_OPERAND: Final = re.compile(
    r"\br(?P<first>\d+)(?:\.(?P<part>\d+))?(?:<(?P<region>[\d;,]+)>)?(?::(?:(?P<count>\d+)|(?P<type>[a-z]\w*)))?"
)
#: Registers of a message's answer and of both parts of what it sends, where only the disassembler's comment tells them.
_SENT: Final = tuple(re.compile(pattern) for pattern in (r"\brd:(\d+)", r"\bwr:(\d+)", r"\bwr:\d+h?\+(\d+)"))

_BYTES: Final = {
    **dict.fromkeys(("b", "ub"), 1),
    **dict.fromkeys(("w", "uw", "hf", "bf"), 2),
    **dict.fromkeys(("d", "ud", "f", "tf32"), 4),
    **dict.fromkeys(("q", "uq", "df"), 8),
}


def registers_named(assembly: Assembly, register_bytes: int) -> int:
    """The number of different registers that the instructions read or write, with the arguments' prolog.

    Args:
        assembly: of one kernel.
        register_bytes: size of one register.
    """
    lines = assembly.text.splitlines()
    return len(
        {
            register
            for instruction in assembly.instructions
            for register in _registers(lines[instruction.line - 1], instruction, register_bytes)
        }
    )


def _registers(line: str, instruction: Instruction, register_bytes: int) -> Iterator[int]:
    code, _, comment = line.partition("//")
    for operand in _OPERAND.finditer(code):
        first = int(operand["first"])
        if operand["count"]:
            yield from range(first, first + int(operand["count"]))
        elif operand["type"] in _BYTES:
            size = _BYTES[operand["type"]]
            start = size * int(operand["part"] or 0)
            end = start + size * (_reach(operand["region"], max(instruction.lanes, 1)) + 1)
            yield from range(first + start // register_bytes, first + -(-end // register_bytes))
        else:
            yield first
    if instruction.opcode.startswith("send"):
        yield from _of_send(code, comment)


def _reach(region: str | None, lanes: int) -> int:
    """Elements from an operand's first to its last one.

    Args:
        region: ``stride``, ``row;stride`` or ``row;width,stride``; lanes side by side without one.
        lanes: of the instruction.
    """
    numbers = [int(number) for number in re.split("[;,]", region or "1")]
    row, stride = numbers[0], numbers[-1]
    width = numbers[1] if len(numbers) == 3 else row // stride if stride else 1
    width = max(1, width)
    return max(lane // width * row + lane % width * stride for lane in range(lanes))


def _of_send(code: str, comment: str) -> Iterator[int]:
    """``send.dc0 (16|M0)  r1  r0 ...  // wr:1h+0, rd:4``: what is received and what is sent."""
    operands = code.partition("|")[2].partition(")")[2].split()
    for operand, counted in zip(operands, _SENT, strict=False):
        register, count = re.fullmatch(r"r(\d+)", operand), counted.search(comment)
        if register and count:
            yield from range(int(register[1]), int(register[1]) + int(count[1]))
