"""A run as Markdown tables, for a README or an issue."""

from __future__ import annotations

from itertools import groupby

from harness.records import Run
from harness.report.result_rows import ResultRow, device_line, failures, notes, result_rows
from harness.vocabulary import Role

HEADINGS = ("pattern", "variant", "time", "speed-up", "95 % interval", "of roof", "verdict")


def as_markdown(run: Run) -> str:
    """A heading and a table a chapter, then what has no result."""
    lines = [device_line(run), ""]
    for chapter, rows in groupby(result_rows(run), key=lambda row: row.chapter):
        lines += [f"### {chapter}", "", *table(list(rows)), ""]
    bad = failures(run)
    if bad:
        lines += [
            "### without a result",
            "",
            *(f"- `{key}`: {status}: {reason}" for key, status, reason in bad),
            "",
        ]
    lines += [f"- {note}" for note in notes(run)]
    return "\n".join(lines).rstrip("\n")


def table(rows: list[ResultRow], *, with_axes: bool = True) -> list[str]:
    """A table with a line a row; with or without the point on the pattern's axes."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    for row in rows:
        role = "" if row.role == Role.OPTIMIZED else f" ({row.role})"
        name = "" if row.verdict else f"`{row.pattern}` {row.axes if with_axes else ''}".strip()
        verdict = f"{row.verdict}: {row.brief}" if row.brief else row.verdict
        cells = (name, row.variant + role, row.time, row.speedup, row.interval, row.roof, verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines
