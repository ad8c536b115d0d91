"""Pages of the site that are tables of what the code declares.

`columns` is every table and column of a run; `coverage` what answers each lesson of the catalogue.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from xebench.patterns.declaration import CatalogueEntry, PatternInfo, covered_entries, entries
from xebench.report.table_forms import fill, table
from xebench.results import SCHEMA_VERSION, TABLES
from xebench.results.schema import DERIVED, MEASURED

#: What a row of each table is.
ROWS: Final = {
    "devices": "A device that the run used, with its measured roofs and the instrument's own error.",
    "cases": "A variant at a point of its parameters: what was to be measured, and what became of it.",
    "samples": "One execution that was timed, or one stage of a compilation (`state` is compile).",
    "events": "What the session recorded of one execution: a command of the device, or a call of the host.",
    "machine": "The state of the machine over a range of samples.",
    "checks": "A check of a variant's results, and the samples that it speaks for.",
    "summaries": "What analysis makes of a case in one state of the caches.",
    "pairs": "What analysis makes of a variant and what it is compared with: the speed-up and the answer.",
    "comparisons": "A case of two runs, by its times: `run.compare(later)`.",
    "pair_comparisons": "A pair of two runs, by its speed-ups and answers: `run.compare(later, on='speedup')`.",
}


def columns() -> str:
    """Every table and column of a run, with its unit and meaning."""
    page = fill(__package__, "columns.md.j2", version=SCHEMA_VERSION, parts=[_section(name) for name in TABLES])
    return re.sub(r"\n{3,}", "\n\n", page).rstrip("\n") + "\n"


def _section(name: str) -> dict[str, str]:
    kind = "measured" if name in MEASURED else "computed, and kept" if name in DERIVED else "computed when asked for"
    lines = table(("column", "type", "unit", "null", "meaning"), _columns_of(name))
    return {"name": name, "row": ROWS[name], "kind": kind, "table": "\n".join(lines)}


def _columns_of(name: str) -> Iterator[tuple[str, str, str, str, str]]:
    for column in TABLES[name].values():
        yield f"`{column.name}`", column.dtype, column.unit, "never" if column.required else "may be", column.meaning


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


def kind_of(entry: CatalogueEntry, patterns: Mapping[str, Sequence[str]]) -> str:
    """One of `KINDS`: what answers an entry.

    Args:
        entry: entry of the catalogue.
        patterns: see `patterns_by_entry`.
    """
    if entry.id in patterns:
        return PATTERN
    return entry.kind or NOT_YET


def _kind_with_stand_ins(
    entry: CatalogueEntry, patterns: Mapping[str, Sequence[str]], stand_ins: Mapping[str, str]
) -> str:
    """The kind of an entry; a stand-in if all of its patterns are."""
    answered = kind_of(entry, patterns)
    return STAND_IN if answered == PATTERN and stand_ins.keys() >= set(patterns[entry.id]) else answered


def _named(stand_ins: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(f"`{name}`", words) for name, words in sorted(stand_ins.items())]


def _by(entry: CatalogueEntry, patterns: Mapping[str, Sequence[str]]) -> str:
    """Patterns, a link, columns and commands, or a reason."""
    answered = kind_of(entry, patterns)
    if answered == PATTERN:
        return ", ".join(f"`{name}`" for name in patterns[entry.id])
    if answered == RECORDED:
        return ", ".join(f"`{name}`" for name in entry.detail.split(", "))
    return f"{entry.detail}; instead: {entry.stand_in}" if answered == CANNOT_BE_SAID else ""


def coverage(infos: Sequence[PatternInfo]) -> str:
    """The page: how many lessons are answered in which way, and one row an entry."""
    patterns = patterns_by_entry(infos)
    stand_ins = {info.name: info.stand_in for info in infos if info.stand_in}
    by_entry = {entry.id: _kind_with_stand_ins(entry, patterns, stand_ins) for entry in entries()}
    rows = [(entry.id, entry.name, entry.guide, by_entry[entry.id], _by(entry, patterns)) for entry in entries()]
    counted = Counter((entry.program, by_entry[entry.id]) for entry in entries())
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
