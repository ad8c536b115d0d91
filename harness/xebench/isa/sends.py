"""Messages: the memory access of a ``send`` in Intel GPU assembly, in the text of both compiler generations.

Since Xe-HPG memory is reached by the load/store unit and the mnemonic says it all
(``load.ugm.d32x4.a64 (16|M0) r14:4 [r10:2]``). Older GPUs, and scratch memory of newer ones, go through the data
port: ``send.dc1 ... 0x04205E01 // wr:2+0, rd:2; untyped surface read with x``, where the disassembler's comment names
the operation and the descriptor's low byte the surface.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LSC = re.compile(
    r"^(?P<operation>load|store|atomic)(?P<detail>_\w+)?\.(?P<unit>ugm|slm|tgm|urb)(?:\.(?P<rest>[\w.]+))?$"
)
_ELEMENT = re.compile(r"\bd(?P<memory>\d+)(?:u\d+)?(?:x(?P<count>\d+))?(?P<transposed>t)?\b")
_BLOCK_2D = re.compile(r"\bd(?P<bits>\d+)\w*\.(?:(?P<count>\d+)x)?(?P<width>\d+)x(?P<height>\d+)")
_ADDRESS = re.compile(r"(?P<surface>(?:\b(?:bti|bss|ss)\[[^\]]*\])?)\[r\d+(?:\.\d+)?:(?P<registers>\d+)")
_DESCRIPTOR = re.compile(r"0x(?P<value>[0-9A-Fa-f]{8})\b")
_SENT = re.compile(r"\bwr:(?P<registers>\d+)")
_CHANNELS = re.compile(r"\bwith (?P<channels>[xyzw]+)\b")
_BLOCK = re.compile(r"\b(?P<unit>[oh]word)\b.*\bblock (?:read|write)(?: x(?P<count>\d+))?")
_WORDS_32 = {"oword": 4, "hword": 8}
_SLM_SURFACE = 0xFE
# Shared functions that are no memory.
_NO_MEMORY = {"gtwy": "barrier", "ts": "end"}


@dataclass(frozen=True)
class SendMessage:
    """One message of a hardware thread.

    Attributes:
        kind: load, store, atomic, fence, barrier, end (of the thread), or other.
        space: global, slm, scratch (private memory and spills in the thread's own memory), argument (the kernel's
            own arguments, fetched before it starts), or "" where memory is not meant.
        width: what moves per lane: ``d32``, ``d32x4``; with a ``t`` (``d32x16t``) one block for the whole thread
            from a single address; "" where the text does not tell.
        bytes: what moves for all lanes together, as far as the text tells; 0 for fences and the like.
        address_registers: registers that hold addresses; 0 where the text does not tell.
        purpose: ``spill`` or ``fill`` where the register allocator made it, else "".
    """

    kind: str
    space: str
    width: str = ""
    bytes: int = 0
    address_registers: int = 0
    purpose: str = ""

    @property
    def label(self) -> str:
        """Kind, space and width in one word: ``load.global.d32x4``."""
        return ".".join(part for part in (self.kind, self.space, self.width) if part)


def is_message(opcode: str) -> bool:
    """True if an instruction is a message."""
    return opcode.startswith(("send", "load.", "load_", "store.", "store_", "atomic_"))


def read_message(opcode: str, lanes: int, operands: str, comment: str, *, in_prolog: bool = False) -> SendMessage:
    """Read a message.

    Args:
        opcode: such as ``load.ugm.d32x4.a64`` or ``send.dc1``.
        lanes: the execution size.
        operands: the text between the execution size and the comment.
        comment: the disassembler's comment.
        in_prolog: whether the instruction is in the part that fetches arguments.
    """
    purpose = "spill" if "scratch space spill" in comment else "fill" if "scratch space fill" in comment else ""
    match = _LSC.match(opcode)
    if match:
        return _load_store(match, lanes, operands, purpose, in_prolog)
    return _data_port(opcode.partition(".")[2], lanes, operands, comment.lower(), purpose, in_prolog)


def _load_store(match: re.Match[str], lanes: int, operands: str, purpose: str, in_prolog: bool) -> SendMessage:
    address = _ADDRESS.search(operands)
    surface = address["surface"] if address else ""
    space = "slm" if match["unit"] == "slm" else "global"
    if surface.startswith("ss") or purpose:
        space = "scratch"
    elif in_prolog:
        space = "argument"
    rest = match["rest"] or ""
    width, size = _block_2d(rest) if "block2d" in (match["detail"] or "") else _element(rest, lanes)
    return SendMessage(match["operation"], space, width, size, int(address["registers"]) if address else 0, purpose)


def _element(rest: str, lanes: int) -> tuple[str, int]:
    """Width and bytes of ``d32x4.a64``, of ``d8u32`` (8 bits in memory, 32 in a register), of ``d32x16t``."""
    element = _ELEMENT.search(rest)
    if element is None:
        return "", 0
    bits, count, transposed = int(element["memory"]), int(element["count"] or 1), element["transposed"] or ""
    width = f"d{bits}" + (f"x{count}" if count > 1 or transposed else "") + transposed
    return width, bits * count // 8 * (1 if transposed else lanes)


def _block_2d(rest: str) -> tuple[str, int]:
    block = _BLOCK_2D.search(rest)
    if block is None:
        return "block2d", 0
    elements = int(block["count"] or 1) * int(block["width"]) * int(block["height"])
    return f"d{block['bits']}x{elements}t", int(block["bits"]) // 8 * elements


def _data_port(unit: str, lanes: int, operands: str, comment: str, purpose: str, in_prolog: bool) -> SendMessage:
    if "end of thread" in comment or "EOT" in operands:
        return SendMessage("end", "")
    if "fence" in comment:
        return SendMessage("fence", "slm" if "slm" in comment else "global")
    if unit in _NO_MEMORY:
        return SendMessage(_NO_MEMORY[unit], "")
    words = (("atomic", "atomic"), ("read", "load"), ("write", "store"), ("writing", "store"))
    kind = next((kind for word, kind in words if word in comment), "other")
    width, size = _data_port_width(comment, lanes)
    sent = _SENT.search(comment)
    space = "argument" if in_prolog else _data_port_space(unit, operands, comment)
    return SendMessage(kind, space, width, size, int(sent["registers"]) if sent else 0, purpose)


def _data_port_space(unit: str, operands: str, comment: str) -> str:
    if "scratch" in comment:
        return "scratch"
    if unit in {"dcro", "cc"}:
        return "constant"
    numbers = _DESCRIPTOR.findall(operands)
    if "a64" not in comment and numbers and int(numbers[-1], 16) & 0xFF == _SLM_SURFACE:
        return "slm"
    return "global"


def _data_port_width(comment: str, lanes: int) -> tuple[str, int]:
    block = _BLOCK.search(comment)
    if block:
        words = _WORDS_32[block["unit"]] * int(block["count"] or 1)
        return f"d32x{words}t", 4 * words
    channels = _CHANNELS.search(comment)
    if channels:
        count = len(channels["channels"])
        return "d32" + (f"x{count}" if count > 1 else ""), 4 * count * lanes
    for text, bits in ((" 8b", 8), (" 16b", 16), (" 32b", 32), ("int16", 16), ("int64", 64), ("qword", 64)):
        if text in comment:
            return f"d{bits}", bits // 8 * lanes
    if "dword" in comment or "int32" in comment or "float32" in comment:
        return "d32", 4 * lanes
    return "", 0
