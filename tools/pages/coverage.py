"""What answers each lesson of the catalogue: ``python -m tools.pages.coverage > docs/coverage.md``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from xebench.patterns.declaration import Entry, PatternInfo, covered_entries, entries
from xebench.patterns.registry import discover
from xebench.report.table_forms import fill, table

PATTERN: Final = "pattern"
STAND_IN: Final = "stand-in"
RECORDED: Final = "recorded"
CANNOT_BE_SAID: Final = "cannot be said"
NOT_YET: Final = "not yet"
KINDS: Final = (PATTERN, STAND_IN, RECORDED, CANNOT_BE_SAID, NOT_YET)

#: Where the lessons lie, in the page's words.
PROGRAMS: Final = {"kernel": "in a kernel", "host": "in the host program"}


def patterns_by_entry(infos: Sequence[PatternInfo]) -> dict[str, list[str]]:
    """The patterns that cover an entry, by its id."""
    found: dict[str, list[str]] = {}
    for info in infos:
        for entry in covered_entries(info.catalogue):
            found.setdefault(entry.id, []).append(info.name)
    return found


def kind(entry: Entry, patterns: Mapping[str, Sequence[str]]) -> str:
    """One of `KINDS`: what answers an entry.

    Args:
        entry: of the catalogue.
        patterns: see `patterns_by_entry`.
    """
    if entry.id in patterns:
        return PATTERN
    return entry.kind or NOT_YET


def _kind(entry: Entry, patterns: Mapping[str, Sequence[str]], stand_ins: Mapping[str, str]) -> str:
    """The kind of an entry; a stand-in if all of its patterns are."""
    answered = kind(entry, patterns)
    return STAND_IN if answered == PATTERN and stand_ins.keys() >= set(patterns[entry.id]) else answered


def _named(stand_ins: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(f"`{name}`", words) for name, words in sorted(stand_ins.items())]


def _by(entry: Entry, patterns: Mapping[str, Sequence[str]]) -> str:
    """Patterns, a link, columns and commands, or a reason."""
    answered = kind(entry, patterns)
    if answered == PATTERN:
        return ", ".join(f"`{name}`" for name in patterns[entry.id])
    if answered == RECORDED:
        return ", ".join(f"`{name}`" for name in entry.detail.split(", "))
    return f"{entry.detail}; instead: {entry.stand_in}" if answered == CANNOT_BE_SAID else ""


def markdown(infos: Sequence[PatternInfo]) -> str:
    """The page: how many lessons are answered in which way, and one row an entry."""
    patterns = patterns_by_entry(infos)
    stand_ins = {info.name: info.stand_in for info in infos if info.stand_in}
    kinds_of = {entry.id: _kind(entry, patterns, stand_ins) for entry in entries()}
    rows = [(entry.id, entry.name, entry.guide, kinds_of[entry.id], _by(entry, patterns)) for entry in entries()]
    counted = Counter((entry.program, kinds_of[entry.id]) for entry in entries())
    kinds = [each for each in KINDS if any(counted[program, each] for program in PROGRAMS)]
    counts = [(words, *(counted[program, each] for each in kinds)) for program, words in PROGRAMS.items()]
    return (
        fill(
            "tools.pages",
            "coverage.md.j2",
            entries=len(rows),
            patterns=len(infos),
            counts=table(("lessons", *kinds), counts, right=range(1, 1 + len(kinds))),
            stand_ins=table(("pattern", "what is missing, what was tried, and what stands for it"), _named(stand_ins)),
            table=table(("entry", "name", "guide", "answered by", ""), rows),
        )
        + "\n"
    )


if __name__ == "__main__":
    print(markdown(discover()), end="")
