"""A run as Markdown tables, for a README or an issue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Final

from xebench.report.remarks import SIGNS, failures, notes
from xebench.report.result_rows import ResultRow, device_line, result_rows, sorted_pairs
from xebench.report.run_summary import Highlight, answer_sentence, gains, headline, highlights, mean_words
from xebench.report.table_forms import escape, table
from xebench.tables import Run


def _answer(row: ResultRow) -> str:
    answer = f"{SIGNS.get(row.answer, '')} {row.answer}".strip()
    return f"{answer}: {row.obstacle}" if row.obstacle else answer


#: Columns that are left out where nothing is known, as of the occupancy on a CPU device.
OPTIONAL: Final[Mapping[str, Callable[[ResultRow], str]]] = {
    "overlap": lambda row: row.overlap,
    "predicted occupancy": lambda row: row.occupancy,
    "rate": lambda row: row.rate,
    "compiling": lambda row: row.compiling,
}

#: Every column, by its heading.
COLUMNS: Final[Mapping[str, Callable[[ResultRow], str]]] = {
    # a pattern is named in the row of its baseline, which has no answer
    "pattern": lambda row: "" if row.answer else f"`{row.pattern}` {row.axes}".rstrip(),
    "variant": lambda row: row.label if row.answer else f"{row.variant} ({row.role})",
    "answer": _answer,
    "speed-up": lambda row: row.speedup,
    "95 % interval": lambda row: row.interval,
    "claimed": lambda row: row.claim,
    "claimed for": lambda row: row.claimed_for,
    "claimed by": lambda row: row.source,
    "time": lambda row: row.time,
    "of roof": lambda row: row.roof,
    **OPTIONAL,
}


def render(run: Run) -> str:
    """The answers, a heading and a table a chapter, then what has no result."""
    lines = [escape(headline(run)), "", escape(answer_sentence(run)), ""]
    for sentence, named in (*highlights(run), Highlight(device_line(run))):
        lines += [escape(sentence), "", *(f"- {escape(''.join(each))}" for each in named), *([""] if named else [])]
    means = gains(sorted_pairs(run))
    for chapter, rows in groupby(result_rows(run), key=lambda row: row.chapter):
        lines += [f"### {escape(chapter)}", "", *_results(rows), ""]
        if chapter in means:
            lines += [f"{mean_words(*means[chapter])}.", ""]
    without_result = [escape(f"- `{key}`: {status}: {reason}") for key, status, reason in failures(run)]
    if without_result:
        lines += ["### without a result", "", *without_result, ""]
    lines += [f"- {note}" for note in notes(run)]
    return "\n".join(lines).rstrip("\n")


def _results(rows: Iterable[ResultRow]) -> list[str]:
    rows = list(rows)
    shown = {name: cell for name, cell in COLUMNS.items() if name not in OPTIONAL or any(map(cell, rows))}
    return table([*shown], ([cell(row) for cell in shown.values()] for row in rows))
