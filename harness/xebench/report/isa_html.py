"""The table ``isa`` as one HTML file that needs nothing else, with the assembly of two variants side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from xebench.isa.collect import VariantWithoutKernel
from xebench.isa.diff import KernelPair, ListingLine, compare, side_by_side
from xebench.isa.table import CodeAnswer, KernelOnGpu
from xebench.report.isa_text import COLUMNS, LEGEND, cells, claims, failures, target_name
from xebench.report.table_forms import fill

# A listing longer than this is cut: the page stays usable, the files of --keep have the rest.
MAX_LINES = 1200
CONTEXT = 3


def as_html(
    kernels: Sequence[KernelOnGpu],
    pairs: Sequence[KernelPair],
    missing: Sequence[VariantWithoutKernel],
    answers: Sequence[CodeAnswer] = (),
) -> str:
    """The whole page."""
    patterns = [
        {
            "name": name,
            "chapter": members[0].launch.chapter,
            "rows": [
                {"kernel": k, "target": target_name(k.target), "cells": cells(k)} for k in members if k.status == "ok"
            ],
            "claims": claims([answer for answer in answers if answer.pattern == name]),
            "pairs": [_pair(pair) for pair in pairs if pair.either.launch.pattern == name],
        }
        for name, group in groupby(kernels, key=lambda kernel: kernel.launch.pattern)
        for members in [list(group)]
    ]
    return fill(
        "xebench.report",
        "isa.html.j2",
        compilers=sorted({kernel.compiler.label for kernel in kernels}),
        headings=[heading for heading, _ in COLUMNS],
        legend=LEGEND,
        patterns=patterns,
        failures=failures(kernels),
        missing=missing,
    )


def _pair(pair: KernelPair) -> dict[str, Any]:
    before, after = pair.before, pair.after
    view: dict[str, Any] = {
        "pair": pair,
        "target": target_name(pair.either.target),
        "changes": [],
        "lines": [],
        "cut": 0,
    }
    if before and after and before.code and after.code:
        lines = folded(side_by_side(before.code, after.code))
        view["changes"] = compare(before, after)
        view["lines"], view["cut"] = lines[:MAX_LINES], max(0, len(lines) - MAX_LINES)
    return view


def folded(lines: Sequence[ListingLine], context: int = CONTEXT) -> list[ListingLine]:
    """The lines, with many equal ones in a row replaced by one that counts them."""
    result: list[ListingLine] = []
    for same, group in groupby(lines, key=lambda line: line.tag == "same"):
        block = list(group)
        if same and len(block) > 2 * context + 1:
            hidden = len(block) - 2 * context
            note = ListingLine("folded", f"... {hidden} alike ...", f"... {hidden} alike ...")
            block = [*block[:context], note, *block[-context:]]
        result += block
    return result
