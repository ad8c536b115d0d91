"""The differences of two kernels for a reader: figures, messages, and the assembly side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest

from xebench.isa.assembly import CLASSES
from xebench.isa.kernel_code import KernelCode
from xebench.isa.table import KernelOnGpu
from xebench.vocabulary import find_baseline

_CLASS_NAMES = {"float": "floating-point", "int64": "64-bit integer", "int64_emulation": "64-bit emulation"}
# by column of the table ``isa``
_NAMES = {
    "simd_width": "SIMD width",
    "grf_count": "registers",
    "spill_bytes": "spilled bytes",
    "private_bytes": "private bytes",
    "slm_bytes": "SLM bytes",
    "barriers": "barriers",
    "instructions": "instructions",
    **{f"instructions_{name}": f"{_CLASS_NAMES.get(name, name)} instructions" for name in CLASSES},
}


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
class KernelPair:
    """Two kernels of a pattern on one GPU, under the same options; a side may lack its partner."""

    before: KernelOnGpu | None
    after: KernelOnGpu | None

    @property
    def either(self) -> KernelOnGpu:
        """A side that there is."""
        kernel = self.after or self.before
        assert kernel is not None
        return kernel


@dataclass(frozen=True)
class ListingLine:
    """A line of two listings side by side; ``tag`` is same, changed, removed or added."""

    tag: str
    before: str
    after: str


def _figures(kernel: KernelOnGpu) -> dict[str, int]:
    """The figures that a reader compares, by name; none where there is no code."""
    if kernel.code is None:
        return {}
    figures = kernel.figures
    named = {name: figures[column] for column, name in _NAMES.items()}
    return named | {f"messages {label}": count for label, count in kernel.code.messages.items()}


def compare(before: KernelOnGpu, after: KernelOnGpu) -> list[Change]:
    """The figures that differ."""
    left, right = _figures(before), _figures(after)
    names = [*left, *(name for name in right if name not in left)]
    changes = [Change(name, left.get(name, 0), right.get(name, 0)) for name in names]
    return [change for change in changes if change.before != change.after]


def pairs(kernels: Sequence[KernelOnGpu]) -> list[KernelPair]:
    """Every variant's kernels against those of its pattern's baseline, GPU by GPU.

    Kernels that both variants launch are left out; the others meet by name, what is left in the order of launch.
    """
    result: list[KernelPair] = []
    for _, group in groupby(sorted(kernels, key=_pattern_key), key=_pattern_key):
        members = list(group)
        by_variant: dict[str, list[KernelOnGpu]] = {}
        for kernel in members:
            by_variant.setdefault(kernel.launch.variant, []).append(kernel)
        baseline = by_variant.pop(_baseline(members))
        for others in by_variant.values():
            result += _matched(baseline, others)
    return result


def _pattern_key(kernel: KernelOnGpu) -> tuple[str, str, str, int]:
    target = kernel.target
    return (kernel.launch.pattern, target.gpu, target.grf_mode, target.forced_simd or 0)


def _baseline(kernels: Sequence[KernelOnGpu]) -> str:
    baseline = find_baseline(kernels, role=lambda kernel: kernel.launch.role)
    return (baseline or kernels[0]).launch.variant


def _matched(before: Sequence[KernelOnGpu], after: Sequence[KernelOnGpu]) -> Iterator[KernelPair]:
    shared = {kernel.launch.identity for kernel in before} & {kernel.launch.identity for kernel in after}
    left = [kernel for kernel in before if kernel.launch.identity not in shared]
    right = [kernel for kernel in after if kernel.launch.identity not in shared]
    for kernel in list(right):
        namesake = next((other for other in left if other.launch.kernel == kernel.launch.kernel), None)
        if namesake:
            left.remove(namesake)
            right.remove(kernel)
            yield KernelPair(namesake, kernel)
    for left_over in zip_longest(left, right):
        yield KernelPair(*left_over)


def side_by_side(before: KernelCode, after: KernelCode) -> list[ListingLine]:
    """Two listings aligned by operation: registers and scoreboard numbers do not count as a difference."""
    left, right = _listing(before), _listing(after)
    shapes = [[shape for shape, _ in side] for side in (left, right)]
    return [
        ListingLine(tag, "" if one is None else left[one][1], "" if other is None else right[other][1])
        for tag, one, other in aligned(*shapes)
    ]


def aligned(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, int | None, int | None]]:
    """Two texts line by line: the `ListingLine.tag`, and the numbers of both lines; None where a side has none."""
    names = {"equal": "same", "replace": "changed", "delete": "removed", "insert": "added"}
    for tag, begin, end, other_begin, other_end in SequenceMatcher(None, left, right).get_opcodes():
        for one, other in zip_longest(range(begin, end), range(other_begin, other_end)):
            yield names[tag], one, other


def _listing(code: KernelCode) -> list[tuple[str, str]]:
    """Each instruction's shape (operation, width, destination type, message), and its text without padding."""
    text = code.assembly.text.splitlines()
    listing = []
    for instruction in code.assembly.instructions:
        shape = f"{instruction.opcode} {instruction.lanes} {instruction.type}"
        listing.append((shape, _tidy(text[instruction.line - 1])))
    return listing


def _tidy(line: str) -> str:
    """One space between words; the comment only if it says what a message does."""
    code, _, comment = line.partition("//")
    words = [part.strip() for part in re.split(r";|//", comment)]
    told = [word for word in words if re.search(r"read|write|atomic|fence|scratch|thread|barrier", word)]
    return re.sub(r"\s+", " ", code).strip() + (f"  // {'; '.join(told)}" if told else "")
