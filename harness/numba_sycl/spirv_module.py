"""SPIR-V modules as binaries: loop hints written into them (``OpLoopMerge``), and facts for optimizers left out.

A device's compiler reads them there: without the hint that a loop is not to be unrolled, Intel's unrolls it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

_MAGIC: Final = 0x07230203

_HEADER_WORDS: Final = 5

# SPV_KHR_expect_assume
_OP_EXTENSION, _OP_ENTRY_POINT, _OP_CAPABILITY, _OP_ASSUME_TRUE = 10, 15, 17, 5630

_EXPECT_ASSUME: Final = 5629


def without_assumptions(module: bytes) -> bytes:
    """The module without its facts for optimizers (``SPV_KHR_expect_assume``), which not every driver takes."""
    kept = [module[: 4 * _HEADER_WORDS]]
    for code, words in instructions(module):
        data = struct.pack(f"<{len(words)}I", *words)
        of_facts = code == _OP_EXTENSION and data.rstrip(b"\0") == b"SPV_KHR_expect_assume"
        of_facts |= (code == _OP_CAPABILITY and words == (_EXPECT_ASSUME,)) or code == _OP_ASSUME_TRUE
        if not of_facts:
            kept += [struct.pack("<I", code | (len(words) + 1) << 16), data]
    return b"".join(kept)


def with_entry_point(module: bytes, name: str) -> bytes:
    """The module of one kernel under another name.

    Args:
        module: SPIR-V.
        name: name of its entry point; ASCII.
    """
    kept = [module[: 4 * _HEADER_WORDS]]
    text = name.encode("ascii")
    for code, words in instructions(module):
        data = struct.pack(f"<{len(words)}I", *words)
        if code == _OP_ENTRY_POINT:  # execution model, function, name, interface
            interface = data.index(b"\0", 8) // 4 * 4 + 4
            data = data[:8] + text + b"\0" * (4 - len(text) % 4) + data[interface:]
        kept += [struct.pack("<I", code | (len(data) // 4 + 1) << 16), data]
    return b"".join(kept)


def instructions(module: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The instructions of a module: opcode and operands.

    Raises:
        ValueError: it is no SPIR-V, or cut short.
    """
    if len(module) % 4 or len(module) < 4 * _HEADER_WORDS or struct.unpack_from("<I", module)[0] != _MAGIC:
        raise ValueError("no SPIR-V of this machine's byte order")
    words = struct.unpack(f"<{len(module) // 4}I", module)
    at = _HEADER_WORDS
    while at < len(words):
        code, length = words[at] & 0xFFFF, words[at] >> 16
        if length == 0 or at + length > len(words):
            raise ValueError("SPIR-V that is cut short")
        yield code, words[at + 1 : at + length]
        at += length


_FUNCTION_END, _LOOP_MERGE, _LABEL, _BRANCH, _BRANCH_CONDITIONAL, _SWITCH = 56, 246, 248, 249, 250, 251

_TERMINATORS: Final = frozenset(range(_BRANCH, 256))
#: LLVM's hints, and what SPIR-V calls them (SPIR-V specification, 3.23). A loop that was to be unrolled in full has no
#: known length if LLVM has left it. SPIR-V's Unroll says less, and Intel's GPU compiler takes it for any factor.
_CONTROLS: Final = {"llvm.loop.unroll.disable": 2, "llvm.loop.unroll.enable": 1}

# llvmlite has no access to the metadata of a module that LLVM has optimised.
_NODE: Final = re.compile(r"^!(\d+) = distinct !\{!\d+(?P<properties>[^}]*)\}$", re.MULTILINE)

_PROPERTY: Final = re.compile(r'^!(\d+) = !\{!"(?P<name>llvm\.loop\.unroll\.\w+)"', re.MULTILINE)

_HINT: Final = re.compile(r"^  br .*!llvm\.loop !(\d+)", re.MULTILINE)


@dataclass
class _Block:
    """A block of a function: where its terminator is, and where that may lead to."""

    label: int
    terminator: int = 0
    successors: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Loop:
    """A natural loop: positions of its first block, of the one that leads back, and of one that follows it."""

    header: int
    latch: int
    exit: int


def loop_hints(text: str) -> list[int]:
    """SPIR-V's loop controls of the loops of a module in LLVM's text that have a hint, in their order."""
    properties = {match[1]: _CONTROLS.get(match["name"], 0) for match in _PROPERTY.finditer(text)}
    nodes = {}
    for match in _NODE.finditer(text):
        controls = [properties.get(number, 0) for number in re.findall(r"!(\d+)", match["properties"])]
        nodes[match[1]] = max(controls, default=0)
    return [nodes.get(match[1], 0) for match in _HINT.finditer(text)]


def with_loop_controls(module: bytes, controls: Sequence[int]) -> bytes:
    """A module whose loops have these controls.

    Args:
        module: SPIR-V.
        controls: controls of all loops, in the order of the blocks that lead back; 0 for none. They must be equal if
            their number differs from the module's loops.
    """
    if not any(controls):
        return module
    words = list(struct.unpack(f"<{len(module) // 4}I", module))
    loops = [(blocks, loop) for blocks in _functions(words) for loop in _loops(blocks)]
    if len(loops) != len(controls):
        if len(set(controls)) > 1:
            return module  # the loops cannot be matched: the hints stay out
        controls = [controls[0]] * len(loops)
    inserted = []
    for (blocks, loop), control in zip(loops, controls, strict=True):
        if control:
            header, latch, exit_ = (blocks[position] for position in (loop.header, loop.latch, loop.exit))
            merge = [4 << 16 | _LOOP_MERGE, exit_.label, latch.label, control]
            inserted.append((header.terminator, merge))
    for at, merge in sorted(inserted, reverse=True):
        words[at:at] = merge
    return struct.pack(f"<{len(words)}I", *words)


def _functions(words: Sequence[int]) -> Iterator[list[_Block]]:
    """The blocks of each function."""
    blocks: list[_Block] = []
    at = _HEADER_WORDS
    while at < len(words):
        code, length = words[at] & 0xFFFF, words[at] >> 16
        if code == _LABEL:
            blocks.append(_Block(words[at + 1]))
        elif code in _TERMINATORS and blocks:
            blocks[-1].terminator = at
            blocks[-1].successors = _targets(code, words[at + 1 : at + length])
        elif code == _FUNCTION_END:
            if blocks:
                yield blocks
            blocks = []
        at += length


def _targets(code: int, operands: Sequence[int]) -> list[int]:
    """The labels that a terminator may lead to."""
    if code == _BRANCH:
        return [operands[0]]
    if code == _BRANCH_CONDITIONAL:
        return list(operands[1:3])
    # of a switch over 32-bit numbers: selector, default, then pairs of a literal and a label
    return [operands[1], *operands[3::2]] if code == _SWITCH else []


def _loops(blocks: Sequence[_Block]) -> list[_Loop]:
    """The natural loops of a function that one block leads back to the first, in the order of these blocks."""
    position = {block.label: number for number, block in enumerate(blocks)}
    leads_to = [[position[label] for label in block.successors if label in position] for block in blocks]
    comes_from: list[list[int]] = [[] for _ in blocks]
    for number, targets in enumerate(leads_to):
        for target in targets:
            comes_from[target].append(number)
    dominators = _dominators(comes_from)
    back = [(latch, header) for latch, targets in enumerate(leads_to) for header in targets]
    back = [(latch, header) for latch, header in back if header in dominators[latch]]
    found = []
    for latch, header in back:
        body = _body(header, [one for one, of in back if of == header], comes_from)
        exits = [target for number in sorted(body) for target in leads_to[number] if target not in body]
        if exits and sum(of == header for _, of in back) == 1:
            found.append(_Loop(header, latch, exits[0]))
    return found


def _dominators(comes_from: Sequence[Sequence[int]]) -> list[set[int]]:
    """The blocks that every way to a block leads through; block 0 is the first."""
    everything = set(range(len(comes_from)))
    found = [{0}, *(set(everything) for _ in comes_from[1:])]
    changed = True
    while changed:
        changed = False
        for number in range(1, len(found)):
            before = [found[one] for one in comes_from[number]]
            new = (set.intersection(*before) if before else set()) | {number}
            changed |= new != found[number]
            found[number] = new
    return found


def _body(header: int, latches: Sequence[int], comes_from: Sequence[Sequence[int]]) -> set[int]:
    body, waiting = {header}, list(latches)
    while waiting:
        number = waiting.pop()
        if number not in body:
            body.add(number)
            waiting += comes_from[number]
    return body
