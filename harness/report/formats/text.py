"""A run for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.table import Table
from rich.text import Text

from harness.records import Run
from harness.report.console import draw, terminal_width
from harness.report.result_rows import (
    ResultRow,
    answer_counts,
    device_line,
    failures,
    noise_line,
    remarks,
    result_rows,
)
from harness.vocabulary import Answer

COLOURS: dict[str, str] = {
    Answer.HOLDS: "green",
    Answer.INVERTS: "red",
    Answer.NO_EFFECT: "magenta",
    Answer.UNDECIDED: "yellow",
    Answer.NO_CLAIM: "dim",
    Answer.SKIPPED: "dim",
}


def render(run: Run, width: int | None = None, *, colour: bool | None = None) -> str:
    """The result table and what needs attention.

    Args:
        run: any run, finished or not.
        width: columns; those of the terminal by default.
        colour: whether to colour; by default where standard output is a terminal.
    """
    width = width or terminal_width(elsewhere=120)
    return draw(_parts(run, width), width, colour=colour)


def _parts(run: Run, width: int) -> Iterator[str | Text | Table]:
    yield from filter(None, (device_line(run), noise_line(run)))
    rows = result_rows(run)
    # time to roof take 45 columns with the gaps around them, an answer at least 14
    label_width = min(max((len(row.label) for row in rows), default=0) + 2, width - 59)
    heading = True
    for (chapter, pattern, axes), group in groupby(rows, key=lambda row: (row.chapter, row.pattern, row.axes)):
        yield Text(f"{chapter} / {pattern} {axes}".rstrip(), style="bold")
        yield _table(list(group), label_width, heading=heading)
        heading = False
    without_result = failures(run)
    if without_result:
        yield Text("without a result:", style="bold")
    yield from (f"  {key}: {status}: {reason}" for key, status, reason in without_result)
    yield from remarks(run)
    counts = ", ".join(f"{count} {answer}" for answer, count in answer_counts(run).items())
    yield f"{counts or 'nothing was compared'}; run folder: {run.path} ({run.manifest['state']})"


def _table(rows: list[ResultRow], label_width: int, *, heading: bool) -> Table:
    """One pattern's rows; the widths are the same for all patterns, so that columns stand under one another."""
    table = Table(pad_edge=False, box=None, show_header=heading, header_style="dim")
    table.add_column("", width=label_width, overflow="fold")
    for title, width in (("time", 7), ("speed-up", 8), ("95 % interval", 13), ("of roof", 7)):
        table.add_column(title, justify="right", no_wrap=True, width=width)
    table.add_column("answer", overflow="fold", min_width=14)
    for row in rows:
        answer = Text(row.answer, style=COLOURS.get(row.answer, ""))
        if row.brief:
            answer.append(f": {row.brief}", style="")
        table.add_row(Text(f"  {row.label}"), row.time, row.speedup, row.interval, row.roof, answer)
    return table
