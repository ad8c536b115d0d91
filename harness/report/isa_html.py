"""The table ``isa`` as one HTML file that needs nothing else, with the assembly of two variants side by side."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from itertools import groupby
from typing import Any

import jinja2

from harness.isa.collect import Missing
from harness.isa.diff import Line, Pair, compare, side_by_side
from harness.isa.table import Entry
from harness.report.isa_text import COLUMNS, LEGEND, cells, failures, target_name

# A listing longer than this is cut: the page stays usable, the files of --keep have the rest.
MAX_LINES = 1200
CONTEXT = 3


def as_html(entries: Sequence[Entry], pairs: Sequence[Pair], missing: Sequence[Missing]) -> str:
    """The whole page."""
    text = resources.files("harness.report").joinpath("isa.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    patterns = [
        {
            "name": name,
            "chapter": members[0].launch.chapter,
            "rows": [{"entry": e, "target": target_name(e), "cells": cells(e)} for e in members if e.status == "ok"],
            "pairs": [_pair(pair) for pair in pairs if pair.some.launch.pattern == name],
        }
        for name, members in _by_pattern(entries)
    ]
    return environment.from_string(text).render(
        compilers=sorted({entry.compiler.label for entry in entries}),
        headings=[heading for heading, _ in COLUMNS],
        legend=LEGEND,
        patterns=patterns,
        failures=failures(entries),
        missing=missing,
    )


def _by_pattern(entries: Sequence[Entry]) -> list[tuple[str, list[Entry]]]:
    groups = groupby(entries, key=lambda entry: entry.launch.pattern)
    return [(name, list(members)) for name, members in groups]


def _pair(pair: Pair) -> dict[str, Any]:
    before, after = pair.before, pair.after
    view: dict[str, Any] = {"pair": pair, "target": target_name(pair.some), "changes": [], "lines": [], "cut": 0}
    if before and after and before.code and after.code:
        lines = folded(side_by_side(before.code, after.code))
        view["changes"] = compare(before, after)
        view["lines"], view["cut"] = lines[:MAX_LINES], max(0, len(lines) - MAX_LINES)
    return view


def folded(lines: Sequence[Line], context: int = CONTEXT) -> list[Line]:
    """The lines with long equal stretches replaced by one line that counts them."""
    result: list[Line] = []
    for same, group in groupby(lines, key=lambda line: line.tag == "same"):
        stretch = list(group)
        if same and len(stretch) > 2 * context + 1:
            hidden = len(stretch) - 2 * context
            note = Line("folded", f"... {hidden} alike ...", f"... {hidden} alike ...")
            stretch = [*stretch[:context], note, *stretch[-context:]]
        result += stretch
    return result
