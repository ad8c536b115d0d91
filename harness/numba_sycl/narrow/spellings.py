"""Spellings of LLVM's optimizer, rewritten as the equal ones that narrowing looks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from numba_sycl.narrow.indices import SIGN_TESTS
from numba_sycl.narrow.llvm_line import NAME, LlvmInstruction, last_word, read_line

_PURE: Final = ("getelementptr", "select", "icmp")


def plainly(lines: list[str]) -> list[str]:
    """The lines of a function whose values all have names, respelled."""
    instructions = [read_line(line, "") for line in lines]
    values = {one.result: one for one in instructions if one.result}
    changed = [line for one in instructions for line in _index(one, values) or [one.line]]
    return changed if changed == lines else _without_unused(changed)


def _without_unused(lines: list[str]) -> list[str]:
    """The lines without addresses, selections and comparisons of which nothing is left that uses them."""
    instructions = [read_line(line, "") for line in lines]
    while True:
        used = {name for one in instructions for name in NAME.findall(one.line.partition(" = ")[2] or one.line)}
        kept = [one for one in instructions if one.opcode not in _PURE or one.result in used]
        if len(kept) == len(instructions):
            return [one.line for one in kept]
        instructions = kept


def _index(one: LlvmInstruction, values: dict[str, LlvmInstruction]) -> Sequence[str]:
    """One index that counts from the end where it is negative, for two steps of an address, of the index and of that.

    A test of the sign of a number of fewer bits becomes one of the index that it is extended to.
    """
    first = values.get(last_word(one.parts[1])) if _has_one_index(one) else None
    if first is not None and _has_one_index(first) and first.type == one.type:
        total = f"{one.result}.total"
        lines = _from_end(one.result, total, (first.operands[0], one.operands[0]), values, ("comparison", "other"))
        return lines and [*lines, f"  {one.result} = getelementptr {one.type}, {first.parts[1]}, i64 {total}"]
    if one.op == "add":
        return _from_end(one.result, one.result, (one.operands[0], one.operands[1]), values, ("other",))
    return ()


def _from_end(
    name: str, total: str, parts: tuple[str, str], values: dict[str, LlvmInstruction], kinds: Sequence[str]
) -> Sequence[str]:
    """The lines that add what an index counts from; none if that is not what the parts of a sum are.

    Args:
        name: name that those of new values begin with.
        total: name of the sum.
        parts: parts of the sum.
        values: instruction that computes each value.
        kinds: kinds of comparisons to write anew.
    """
    for index, chosen in (parts, parts[::-1]):
        choice = values.get(chosen)
        test = values.get(choice.condition) if choice is not None and choice.op == "select" else None
        if choice is not None and test is not None and test.kind in kinds and _is_of_sign(test, index, values):
            return (
                f"  {name}.test = icmp {test.parts[0].split()[0]} i64 {index}, {test.parts[1]}",
                f"  {name}.more = select {', '.join((f'i1 {name}.test', *choice.parts[1:]))}",
                f"  {total} = add i64 {index}, {name}.more",
            )
    return ()


def _is_of_sign(test: LlvmInstruction, index: str, values: dict[str, LlvmInstruction]) -> bool:
    if test.opcode != "icmp" or len(words := test.parts[0].split()) != 3:
        return False
    number, extended = words[2], values.get(index)
    is_extended = extended is not None and extended.op == "sext" and number in extended.parts[0].split()
    return (number == index or is_extended) and (words[0], test.parts[1]) in SIGN_TESTS


def _has_one_index(one: LlvmInstruction) -> bool:
    return one.kind == "gep" and len(one.parts) == 3 and len(one.operands) == 1 and one.operands[0].startswith("%")
