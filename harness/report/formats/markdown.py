"""A run as Markdown tables, for a README or an issue."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from harness.records import Run
from harness.report.markdown_table import escape, table
from harness.report.result_rows import ResultRow, device_line, failures, notes, result_rows

HEADINGS = ("pattern", "variant", "time", "speed-up", "95 % interval", "of roof", "answer")


def render(run: Run) -> str:
    """A heading and a table a chapter, then what has no result."""
    lines = [escape(device_line(run)), ""]
    for chapter, rows in groupby(result_rows(run), key=lambda row: row.chapter):
        lines += [f"### {escape(chapter)}", "", *results(rows), ""]
    without_result = [escape(f"- `{key}`: {status}: {reason}") for key, status, reason in failures(run)]
    if without_result:
        lines += ["### without a result", "", *without_result, ""]
    lines += [f"- {note}" for note in notes(run)]
    return "\n".join(lines).rstrip("\n")


def results(rows: Iterable[ResultRow], *, with_axes: bool = True) -> list[str]:
    """A table with a line a row; with or without the point on the pattern's axes."""
    return table(HEADINGS, (_cells(row, row.axes if with_axes else "") for row in rows))


def _cells(row: ResultRow, axes: str) -> tuple[str, ...]:
    # a pattern is named in the row of its baseline, which has no answer
    name = "" if row.answer else f"`{row.pattern}` {axes}"
    answer = f"{row.answer}: {row.brief}" if row.brief else row.answer
    return name, row.label, row.time, row.speedup, row.interval, row.roof, answer
