"""Read Intel GPU assembly (IGC's ``*.asm``): instructions by class, and the memory accesses of messages.

Since Xe-HPG memory is reached by the load/store unit and the mnemonic says it all
(``load.ugm.d32x4.a64 (16|M0) r14:4 [r10:2]``). Older GPUs, and scratch memory of newer ones, go through the data
port: ``send.dc1 ... 0x04205E01 // wr:2+0, rd:2; untyped surface read with x``, where the disassembler's comment names
the operation and the descriptor's low byte the surface.

Both generations of the compiler are read, the old one (IGC 1, Debian 12) and the current one (IGC 2).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from xebench.system.gpus import gpu_of_platform

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
# Shared functions other than memory.
_NO_MEMORY = {"gtwy": "barrier", "ts": "end"}


@dataclass(frozen=True)
class SendMessage:
    """One message of a hardware thread.

    Attributes:
        kind: load, store, atomic, fence, barrier, end (of the thread), or other.
        space: global, slm, scratch (private memory and spills in the thread's own memory), argument (the kernel's
            own arguments, fetched before it starts), or "" without memory.
        width: data moved per lane: ``d32``, ``d32x4``; with a ``t`` (``d32x16t``) one block for the whole thread from a
            single address; "" if the text does not show it.
        bytes: bytes moved for all lanes together, as far as the text shows; 0 for fences and the like.
        address_registers: registers that hold addresses; 0 if the text does not show them.
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
        opcode: opcode such as ``load.ugm.d32x4.a64`` or ``send.dc1``.
        lanes: the execution size.
        operands: the text between the execution size and the comment.
        comment: the disassembler's comment.
        in_prolog: True if the instruction is in the prolog, which fetches arguments.
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


#: Classes of instructions, with a description.
CLASSES: Final = {
    "float": "floating-point arithmetic",
    "int": "integer arithmetic and logic of up to 32 bits",
    "int64": "native 64-bit integer arithmetic",
    "int64_emulation": "carries and high halves with which 64-bit integers go through 32-bit hardware",
    "move": "moves between registers",
    "math": "the extended math unit (inverse, square root, logarithm, ...)",
    "dpas": "matrix engine (XMX)",
    "send": "messages",
    "sync": "waits for the scoreboard and for barriers",
    "control": "branches",
    "other": "no-operations",
}

_INSTRUCTION = re.compile(r"^(?:\([^)]*\)\s*)?(?P<opcode>[a-z]\S*)(?:\s+\((?P<lanes>\d+)\|M\d+\))?(?P<operands>.*)$")

_LABEL = re.compile(r"^(?://\s*)?(?P<name>[A-Za-z_]\w*):\s*$")

KERNEL_LINE = re.compile(r'^//\.kernel "?([^"\n]+)"?$', re.MULTILINE)

_HEADER = {
    "kernel": KERNEL_LINE,
    "platform": re.compile(r"^//\.platform (\w+)$", re.MULTILINE),
    "grf": re.compile(r"^//\.thread_config numGRF=(\d+)", re.MULTILINE),
    "spill": re.compile(r"^//\.spill size (\d+)$", re.MULTILINE),
    "private": re.compile(r"^//\.private memory size (\d+)$", re.MULTILINE),
}

_DESTINATION = re.compile(
    r"^(?:\([\w~&. ]+\)\s*\w*\.?\w*\s+)?(?P<name>[\w.]+(?:\[[^\]]*\])?)(?:<[\d;,]+>)?:(?P<type>[a-z]\w*)"
)
# carries are always in the first accumulator; sums that the compiler keeps in accumulators are in others
_ACCUMULATOR_READ = re.compile(r"\s-?acc0\.\d+(?:<[^>]*>)?:ud\b")

_CONTROL = frozenset(
    "if else endif while break cont goto join jmpi brd brc call calla ret halt".split()  # noqa: SIM905
)

_MOVES = frozenset({"mov", "movi", "smov"})

_FLOAT_TYPES = frozenset({"f", "df", "hf", "bf", "tf32"})

_INT64_TYPES = frozenset({"q", "uq"})
# Carries turn narrow additions into wide ones.
_CARRIES = frozenset({"addc", "subb"})


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        opcode: opcode with its suffix: ``mad``, ``math.log``, ``load.ugm.d32.a64``.
        kind: one of ``CLASSES``.
        lanes: execution size; 0 where there is none.
        type: type of the destination (``f``, ``df``, ``d``, ``uq``), or "".
        line: line number in the file, from 1.
        message: the message of a send; None for other instructions.
    """

    opcode: str
    kind: str
    lanes: int
    type: str
    line: int
    message: SendMessage | None = None


@dataclass(frozen=True)
class Assembly:
    """The assembly of one kernel.

    Attributes:
        kernel: its name.
        platform: the compiler's name of the GPU.
        grf_count: registers of a hardware thread.
        spill_bytes: memory of a thread for spilled registers.
        private_bytes: private memory of a thread.
        instructions: up to the end of the thread; padding after it is left out.
        text: the file.
    """

    kernel: str
    platform: str
    grf_count: int
    spill_bytes: int
    private_bytes: int
    instructions: tuple[Instruction, ...]
    text: str = field(repr=False, default="")

    @cached_property
    def by_class(self) -> dict[str, int]:
        """The number of instructions of each class; every class is there."""
        counts = Counter(instruction.kind for instruction in self.instructions)
        return {name: counts[name] for name in CLASSES}

    @property
    def messages(self) -> list[SendMessage]:
        """The messages, in the order of the text."""
        return [instruction.message for instruction in self.instructions if instruction.message]

    def count(self, kind: str, space: str | None = None, *, purpose: str | None = None) -> int:
        """The number of messages of a kind, in a space if one is given, of a purpose if one is given."""
        return sum(
            message.kind == kind and space in (None, message.space) and purpose in (None, message.purpose)
            for message in self.messages
        )

    @property
    def additions(self) -> int:
        """Floating-point additions, those that are fused with a product too."""
        return sum(each.kind == "float" and each.opcode in ("add", "mad") for each in self.instructions)

    @property
    def address_registers(self) -> int:
        """Most registers that hold the addresses of one load, store or atomic of global memory."""
        return max((each.address_registers for each in self._moved("load", "store", "atomic")), default=0)

    @property
    def late_loads(self) -> int:
        """Loads from global memory that follow a store to it in the text."""
        kinds = [each.kind for each in self._moved("load", "store")]
        return kinds[kinds.index("store") :].count("load") if "store" in kinds else 0

    def _moved(self, *kinds: str) -> list[SendMessage]:
        return [each for each in self.messages if each.space == "global" and each.kind in kinds]


def read_assembly(text: str) -> Assembly:
    """Read one ``*.asm`` file.

    Raises:
        ValueError: it does not begin as IGC's files do.
    """
    header = {key: match[1] for key, pattern in _HEADER.items() if (match := pattern.search(text))}
    if "kernel" not in header:
        raise ValueError("no assembly of IGC: the line //.kernel is missing")
    platform = header.get("platform", "")
    return Assembly(
        kernel=header["kernel"],
        platform=platform,
        grf_count=int(header.get("grf", 0)),
        spill_bytes=int(header.get("spill", 0)),
        private_bytes=int(header.get("private", 0)),
        instructions=_instructions(text.splitlines(), platform),
        text=text,
    )


def _instructions(lines: Sequence[str], platform: str) -> tuple[Instruction, ...]:
    gpu = gpu_of_platform(platform)
    has_macl = gpu is not None and gpu.has_macl
    instructions: list[Instruction] = []
    end, in_prolog = 0, False
    for number, line in enumerate(lines, 1):
        label = _LABEL.match(line)
        if label:
            in_prolog = label["name"].endswith("_prolog")
            continue
        code, _, comment = line.partition("//")
        if not code.strip():
            continue
        match = _INSTRUCTION.match(code.strip())
        if match is None:
            raise ValueError(f"line {number} of the assembly is no instruction: {code.strip()[:60]!r}")
        instructions.append(_instruction(match, comment, has_macl, number, in_prolog))
        if "EOT" in match["operands"]:
            end = len(instructions)
    return tuple(instructions[: end or len(instructions)])


def _instruction(match: re.Match[str], comment: str, has_macl: bool, line: int, in_prolog: bool) -> Instruction:
    # bfn carries its logic in its name: bfn.(s0&s1|s2)
    opcode, operands = match["opcode"].partition(".(")[0], match["operands"].strip()
    lanes = int(match["lanes"] or 0)
    destination = _DESTINATION.match(operands)
    kind_of_type = destination["type"] if destination else ""
    message = None
    if is_message(opcode):
        message = read_message(opcode, lanes, operands, comment, in_prolog=in_prolog)
    kind = "send" if message else _kind(opcode, operands, kind_of_type, has_macl)
    return Instruction(opcode, kind, lanes, kind_of_type, line, message)


def _kind(opcode: str, operands: str, type_: str, has_macl: bool) -> str:
    stem = opcode.partition(".")[0]
    for names, kind in ((_CONTROL, "control"), ({"sync", "wait"}, "sync"), ({"math"}, "math"), ({"dpas"}, "dpas")):
        if stem in names:
            return kind
    if stem in {"nop", "illegal"}:
        return "other"
    if _emulates_int64(stem, operands, has_macl):
        return "int64_emulation"
    if stem in _MOVES:
        return "move"
    if type_ in _FLOAT_TYPES:
        return "float"
    return "int64" if type_ in _INT64_TYPES else "int"


def _emulates_int64(stem: str, operands: str, has_macl: bool) -> bool:
    """True if the instruction is there because 64 bits go through 32-bit hardware: carries and high halves."""
    if stem == "mach":
        # where macl is an instruction of its own, mach is the high half; elsewhere only if it writes the accumulator
        return has_macl or "AccWrEn" in operands
    return stem in _CARRIES or (stem in {"add", "add3", "mov"} and bool(_ACCUMULATOR_READ.search(operands)))
