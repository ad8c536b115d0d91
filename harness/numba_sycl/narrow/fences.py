"""Barriers that fence local memory only, where that is enough."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from numba_sycl.narrow.function_text import Function
from numba_sycl.narrow.llvm_line import NAME, LlvmInstruction, last_word

_ALL, _LOCAL = "912", "272"  # SPIR-V's memory semantics: sequentially consistent, of all memory or of local memory
_BARRIER: Final = "_Z22__spirv_ControlBarrierjjj"
_WORK_GROUP: Final = "2"  # SPIR-V's scope
_LOCAL_SPACE: Final = "3"


def with_local_fences(function: Function) -> bool:
    """Make barriers of a function fence local memory only, where that is enough; True if there were any.

    ``group_barrier`` orders all memory, as SYCL's does; a fence of global memory costs instructions, and time. No
    work-item can see that it is missing where no global write can come before the barrier, and where no later one can
    overtake a read: what was read has to be in local memory at the barrier, or of no further use, as then nothing of it
    is still awaited.
    """
    barriers = [one for one in function.instructions if _fences_all(one)]
    found = [one for one in barriers if _Exchange(function).is_local(one)] if barriers else []
    for one in found:
        one.line = one.line.replace(f" {_ALL})", f" {_LOCAL})")
    return bool(found)


def _fences_all(one: LlvmInstruction) -> bool:
    return one.callee == _BARRIER and [*map(last_word, one.parts)] == [_WORK_GROUP, _WORK_GROUP, _ALL]


class _Exchange:
    """The values that work-items of a group may exchange through global memory."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._at = {id(one): place for place, one in enumerate(function.instructions)}
        self._following: dict[str, list[str]] = defaultdict(list)
        for block, before in function.predecessors.items():
            for source in before:
                self._following[source].append(block)
        self._later = {block: self._after(block) for block in {one.block for one in function.instructions}}
        self._writes = [one for one in function.instructions if _writes(one)]
        self._reads = [one for one in function.instructions if _reads(one)]
        self._live_at_end = self._liveness()

    def is_local(self, barrier: LlvmInstruction) -> bool:
        """True if a fence of local memory is enough."""
        if any(self._is_before(one, barrier) for one in self._writes):
            return False
        if not any(self._is_before(barrier, one) for one in self._writes):
            return True
        awaited = self._live_at(barrier)
        return not any(self._is_before(one, barrier) and self._remains(one, awaited) for one in self._reads)

    def _after(self, block: str) -> set[str]:
        """The blocks that may be executed after one."""
        found: set[str] = set()
        waiting = list(self._following[block])
        while waiting:
            if (one := waiting.pop()) not in found:
                found.add(one)
                waiting += self._following[one]
        return found

    def _is_before(self, one: LlvmInstruction, other: LlvmInstruction) -> bool:
        """True if one may be executed before the other."""
        return other.block in self._later[one.block] or (
            one.block == other.block and self._at[id(one)] < self._at[id(other)]
        )

    def _remains(self, read: LlvmInstruction, awaited: set[str]) -> bool:
        """True if anything that is computed from what was read is needed later, other than from local memory."""
        seen: set[str] = set()
        waiting = [read.result]
        while waiting:
            value = waiting.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in awaited or any(_keeps(use) for use in self._function.uses[value]):
                return True
            waiting += [use.result for use in self._function.uses[value] if use.result]
        return False

    def _liveness(self) -> dict[str, set[str]]:
        """The values that are needed after each block."""
        blocks: dict[str, list[LlvmInstruction]] = defaultdict(list)
        for one in self._function.instructions:
            blocks[one.block].append(one)
        self._blocks = blocks
        live: dict[str, set[str]] = {block: set() for block in blocks}
        changed = True
        while changed:
            changed = False
            for block in blocks:
                needed = {name for following in self._following[block] for name in self._needed(following, block, live)}
                if needed != live[block]:
                    live[block], changed = needed, True
        return live

    def _needed(self, block: str, source: str, live: dict[str, set[str]]) -> set[str]:
        """The values that a block needs from a block before it."""
        phis = [one for one in self._blocks[block] if one.opcode == "phi"]
        rest = [one for one in self._blocks[block] if one.opcode != "phi"]
        needed = _before(rest, live[block]) - {one.result for one in phis}
        return needed | {name for one in phis for name, label in one.incoming if label == source}

    def _live_at(self, barrier: LlvmInstruction) -> set[str]:
        block = self._blocks[barrier.block]
        return _before(block[block.index(barrier) + 1 :], self._live_at_end[barrier.block])


def _before(instructions: list[LlvmInstruction], live: set[str]) -> set[str]:
    """The values that are needed before some instructions of a block, given those needed after them."""
    live = set(live)
    for one in reversed(instructions):
        live.discard(one.result)
        live |= set(NAME.findall(one.line)) - {one.result}
    return live


def _writes(one: LlvmInstruction) -> bool:
    """True if it may write global memory, or order accesses to it."""
    if one.opcode == "store":
        return _is_global(one.parts[1])
    if one.opcode in ("atomicrmw", "cmpxchg", "fence"):
        return set(_spaces(one.line)) != {_LOCAL_SPACE}
    if one.opcode != "call" or not one.callee:
        return one.opcode == "call"
    if "MemoryBarrier" in one.callee:
        return True
    takes_pointers = any("*" in argument or "ptr" in argument for argument in one.parts)
    return takes_pointers and set(_spaces(" ".join(one.parts))) != {_LOCAL_SPACE}


def _reads(one: LlvmInstruction) -> bool:
    """True if it reads global memory that a kernel may write."""
    return one.opcode == "load" and _is_global(one.parts[1]) and "@__spirv_BuiltIn" not in one.parts[1]


def _spaces(text: str) -> list[str]:
    """The address spaces that a text names."""
    return [part.partition(")")[0] for part in text.split("addrspace(")[1:]]


def _is_global(address: str) -> bool:
    """True if a pointer leads to another memory than a work-item's or a group's own."""
    spaces = _spaces(address)  # the last is its own
    return bool(spaces) and spaces[-1] not in ("0", _LOCAL_SPACE)


def _keeps(use: LlvmInstruction) -> bool:
    """True if a value goes to a work-item's own memory."""
    return use.opcode == "store" and not _spaces(use.line)
