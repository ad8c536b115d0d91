"""What changed between two kernels, for a reader: figures, messages, and the assembly side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest

from harness.isa.kernel_code import KernelCode
from harness.isa.table import Entry
from harness.vocabulary import find_baseline

_CLASS_NAMES = {"float": "floating-point", "int64": "64-bit integer", "int64_emulation": "64-bit emulation"}


@dataclass(frozen=True)
class Change:
    """A figure of a kernel on both sides."""

    name: str
    before: int
    after: int

    @property
    def text(self) -> str:
        """``SIMD width 32 -> 16``."""
        return f"{self.name} {self.before} -> {self.after}"


@dataclass(frozen=True)
class Pair:
    """Two kernels of a pattern on one GPU, under the same options; a side may lack its partner."""

    before: Entry | None
    after: Entry | None

    @property
    def some(self) -> Entry:
        """The side that there is."""
        entry = self.after or self.before
        assert entry is not None
        return entry


@dataclass(frozen=True)
class Line:
    """A line of two listings side by side; ``tag`` is same, changed, removed or added."""

    tag: str
    before: str
    after: str


def figures(entry: Entry) -> dict[str, int]:
    """The figures that a reader compares, by name; none where there is no code."""
    code = entry.code
    if code is None:
        return {}
    assembly = code.assembly
    classes = {f"{_CLASS_NAMES.get(name, name)} instructions": n for name, n in assembly.by_class.items()}
    return {
        "SIMD width": code.simd_width,
        "registers": code.info.grf_count,
        "spilled bytes": code.spill_bytes,
        "private bytes": code.private_bytes,
        "SLM bytes": code.info.slm_bytes + entry.launch.local_bytes,
        "barriers": code.info.barriers,
        "instructions": len(assembly.instructions),
        **classes,
        **{f"messages {label}": count for label, count in code.messages.items()},
    }


def compare(before: Entry, after: Entry) -> list[Change]:
    """The figures that differ."""
    left, right = figures(before), figures(after)
    names = [*left, *(name for name in right if name not in left)]
    changes = [Change(name, left.get(name, 0), right.get(name, 0)) for name in names]
    return [change for change in changes if change.before != change.after]


def pairs(entries: Sequence[Entry]) -> list[Pair]:
    """Every variant's kernels against those of its pattern's baseline, GPU by GPU.

    Kernels that both variants launch are left out; the others meet by name, what is left in the order of launch.
    """
    found = []
    for _, group in groupby(sorted(entries, key=_pattern_key), key=_pattern_key):
        members = list(group)
        baseline = _baseline(members)
        mine = [entry for entry in members if entry.launch.variant == baseline]
        for variant in dict.fromkeys(entry.launch.variant for entry in members):
            if variant != baseline:
                others = [entry for entry in members if entry.launch.variant == variant]
                found += list(_matched(mine, others))
    return found


def _pattern_key(entry: Entry) -> tuple[str, str, str, int]:
    target = entry.target
    return (entry.launch.pattern, target.gpu, target.grf_mode, target.forced_simd or 0)


def _baseline(entries: Sequence[Entry]) -> str:
    found = find_baseline(entries, role=lambda entry: entry.launch.role)
    return (found or entries[0]).launch.variant


def _matched(before: Sequence[Entry], after: Sequence[Entry]) -> Iterator[Pair]:
    shared = {entry.launch.identity for entry in before} & {entry.launch.identity for entry in after}
    left = [entry for entry in before if entry.launch.identity not in shared]
    right = [entry for entry in after if entry.launch.identity not in shared]
    for entry in list(right):
        partner = next((each for each in left if each.launch.kernel == entry.launch.kernel), None)
        if partner:
            left.remove(partner)
            right.remove(entry)
            yield Pair(partner, entry)
    for one, other in zip_longest(left, right):
        yield Pair(one, other)


def side_by_side(before: KernelCode, after: KernelCode) -> list[Line]:
    """Two listings aligned by operation: registers and scoreboard numbers do not count as a difference."""
    left, right = _listing(before), _listing(after)
    matcher = SequenceMatcher(None, [shape for shape, _ in left], [shape for shape, _ in right])
    lines: list[Line] = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        one = [text for _, text in left[start:end]]
        two = [text for _, text in right[other_start:other_end]]
        name = {"equal": "same", "replace": "changed", "delete": "removed", "insert": "added"}[tag]
        lines += [Line(name, a, b) for a, b in zip_longest(one, two, fillvalue="")]
    return lines


def _listing(code: KernelCode) -> list[tuple[str, str]]:
    """Each instruction's shape (operation, width, destination type, message), and its text without padding."""
    text = code.assembly.text.splitlines()
    listing = []
    for instruction in code.assembly.instructions:
        shape = f"{instruction.opcode} {instruction.lanes} {instruction.type}"
        listing.append((shape, _tidy(text[instruction.line - 1])))
    return listing


def _tidy(line: str) -> str:
    """One space between words; the comment only where it tells what a message does."""
    code, _, comment = line.partition("//")
    words = [part.strip() for part in re.split(r";|//", comment)]
    told = [word for word in words if re.search(r"read|write|atomic|fence|scratch|thread|barrier", word)]
    return re.sub(r"\s+", " ", code).strip() + (f"  // {'; '.join(told)}" if told else "")


def as_text(pair: Pair) -> list[str]:
    """A pair in a few lines."""
    names = [f"{e.launch.variant} ({e.launch.kernel})" if e else "(no kernel)" for e in (pair.before, pair.after)]
    head = f"{pair.some.launch.pattern} on {pair.some.target.gpu}: {names[0]} -> {names[1]}"
    if pair.before is None or pair.after is None:
        return [head]
    for entry in (pair.before, pair.after):
        if entry.code is None:
            return [head, f"  {entry.launch.variant}: {entry.status}: {entry.reason}"]
    changes = compare(pair.before, pair.after)
    return [head, *(f"  {change.text}" for change in changes)] if changes else [head, "  the same figures"]
