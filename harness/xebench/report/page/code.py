"""The source of a variant beside that of its baseline, and what Intel's GPU compiler makes of a pattern's kernels.

They are of the project's own patterns, made by ``python -m tools.pages.kept_data suite`` without a GPU.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup, escape

from xebench.patterns.declaration import PatternInfo, VariantInfo, shown_pair
from xebench.patterns.variant_source import Definition, code_of
from xebench.report.line_diff import aligned
from xebench.vocabulary import find_baseline

_MADE_ELSEWHERE: Final = "{} is made by other code of {}: read it there"


@dataclass(frozen=True)
class CodeLine:
    """A line of both; ``tag`` is same, changed, removed or added. What differs in a changed line is marked."""

    tag: str
    before: Markup
    after: Markup


@dataclass(frozen=True)
class SideBySide:
    """Two variants' code.

    Attributes:
        before, after: names and roles of both; after is "" where the pattern has one variant only.
        lines: code that only one of them uses.
        shared: code that both use, or all of one alone, as text.
        obstacle: reason why the code cannot be shown; "" if it can.
        is_first: True for the pair shown first (`shown_pair`).
    """

    before: str
    after: str
    lines: Sequence[CodeLine] = ()
    shared: str = ""
    obstacle: str = ""
    is_first: bool = False

    @property
    def changed(self) -> int:
        """The number of lines that differ."""
        return sum(line.tag != "same" for line in self.lines)


def side_by_side(info: PatternInfo) -> list[SideBySide]:
    """The two variants of the guide's firmest claim, and every other variant beside the baseline; or one alone."""
    baseline, first = find_baseline(info.variants, role=lambda each: each.role), shown_pair(info)
    if baseline is None:
        return []
    source = Path(info.source)
    if first is None:
        return [_alone(baseline, code_of(source, info.name, baseline.name), source.name)]
    pairs = [first, *((baseline, each) for each in info.variants if each is not baseline)]
    found: list[SideBySide] = []
    for one, other in dict.fromkeys((one.name, other.name) for one, other in pairs):
        sides = [next(each for each in info.variants if each.name == name) for name in (one, other)]
        names = [f"{each.name} ({each.role})" for each in sides]
        left, right = (code_of(source, info.name, each.name) for each in sides)
        made = _compared(names[0], names[1], left, right, source.name)
        found.append(replace(made, is_first=not found))
    return found


def _alone(variant: VariantInfo, code: Sequence[Definition], file: str) -> SideBySide:
    obstacle = "" if code else _MADE_ELSEWHERE.format(variant.name, file)
    return SideBySide(f"{variant.name} ({variant.role})", "", shared=_text(code), obstacle=obstacle, is_first=True)


def _compared(before: str, after: str, one: Sequence[Definition], other: Sequence[Definition], file: str) -> SideBySide:
    if not one or not other:
        name = before if not one else after
        return SideBySide(before, after, obstacle=_MADE_ELSEWHERE.format(name, file))
    both = [definition for definition in other if definition in one]
    left, right = (_text([each for each in side if each not in both]).splitlines() for side in (one, other))
    return SideBySide(before, after, [*_lines(left, right)], _text(both))


def _text(definitions: Sequence[Definition]) -> str:
    return "\n\n".join(definition.text for definition in definitions)


def _lines(left: Sequence[str], right: Sequence[str]) -> Iterator[CodeLine]:
    for tag, one, other in aligned(left, right):
        before, after = ("" if place is None else side[place] for place, side in ((one, left), (other, right)))
        if tag == "changed" and one is not None and other is not None:
            yield CodeLine(tag, *_marked(before, after))
        else:  # of a part that is replaced one side may be longer
            yield CodeLine(
                "removed" if other is None else "added" if one is None else tag, escape(before), escape(after)
            )


def _alike(one: str, other: str) -> int:
    """The length of the common beginning of both, in characters."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _marked(before: str, after: str) -> tuple[Markup, Markup]:
    """Both with a mark around what they have not in common at their beginning and end."""
    begin = _alike(before, after)
    end = _alike(before[begin:][::-1], after[begin:][::-1])

    def marked(line: str) -> Markup:
        middle = line[begin : len(line) - end]
        inside = Markup("<mark>{}</mark>").format(middle) if middle.strip() else escape(middle)
        return escape(line[:begin]) + inside + escape(line[len(line) - end :])

    return marked(before), marked(after)


#: Headings and columns of the table.
COLUMNS: Final = {
    "SIMD width": "simd_width",
    "registers": "grf_count",
    "spilled bytes": "spill_bytes",
    "SLM bytes": "slm_bytes",
    "instructions": "instructions",
    "global loads": "loads_global",
    "global stores": "stores_global",
    "global atomics": "atomics_global",
    "SLM loads": "loads_slm",
    "SLM stores": "stores_slm",
}
#: GPUs that are shown: Max and Arc.
_GPUS: Final = ("pvc", "dg2")


def compiler() -> str:
    """The compiler that made them, the newest of those that did."""
    newest = read()[-1]
    return f"ocloc {newest['version']}"


def figures(pattern: str) -> list[tuple[str, str, str, Sequence[Any]]]:
    """Variant, kernel, GPU and the cells of `COLUMNS`, of each kernel of a pattern that compiled."""
    return [
        (row["variant"], row["kernel"], row["gpu"], [row[column] for column in COLUMNS.values()])
        for row in _rows().get(pattern, [])
    ]


@cache
def _rows() -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in read()[-1]["rows"]:
        if row["status"] == "ok" and row["gpu"] in _GPUS:
            found.setdefault(row["pattern"], []).append(row)
    return found


@cache
def read() -> list[Mapping[str, Any]]:
    """The kept results, a compiler each, oldest first."""
    # data of the room above, so no import of its code
    text = resources.files("xebench").joinpath("isa", "data", "isa_suite.json").read_text(encoding="utf-8")
    data: list[Mapping[str, Any]] = json.loads(text)
    return data
