"""A run for the terminal, and as JSON."""

from __future__ import annotations

import io
import json
import shutil
from datetime import UTC, datetime
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.records import Run
from harness.report.result_rows import (
    ResultRow,
    device_line,
    failures,
    flag_line,
    instance_line,
    noise_line,
    result_rows,
    verdict_counts,
)
from harness.vocabulary import Role, Verdict

COLOURS: dict[str, str] = {
    Verdict.CONFIRMED: "green",
    Verdict.REFUTED: "red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NOT_APPLICABLE: "dim",
}


def timestamp() -> str:
    """Now, as the name of a folder."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")


def as_json(run: Run) -> str:
    """Folder, state, and the pairs and cases as lists of objects."""
    return json.dumps(
        {
            "folder": str(run.path),
            "state": run.manifest["state"],
            "pairs": json.loads(run.pairs.to_json(orient="records")),
            "cases": json.loads(run.cases.to_json(orient="records")),
        },
        indent=2,
    )


def as_text(run: Run, width: int | None = None, *, colour: bool | None = None) -> str:
    """The result table and what needs attention, at the width of the terminal."""
    buffer = io.StringIO()
    size = width or max(80, shutil.get_terminal_size((120, 24)).columns)
    console = Console(file=buffer, width=size, force_terminal=_colour() if colour is None else colour)
    for line in (device_line(run), noise_line(run)):
        if line:
            console.print(Text(line))
    rows = result_rows(run)
    # time to roof take 43 columns with their gaps, a verdict at least 14
    label_width = min(max((len(_label(row)) for row in rows), default=0) + 2, size - 57)
    heading = True
    for (chapter, pattern, axes), group in groupby(rows, key=lambda row: (row.chapter, row.pattern, row.axes)):
        console.print(Text(f"{chapter} / {pattern} {axes}".rstrip(), style="bold"))
        console.print(_table(list(group), label_width, heading=heading))
        heading = False
    _print_failures(console, run)
    for line in filter(None, (flag_line(run), instance_line(run))):
        console.print(Text(line))
    counts = verdict_counts(run)
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "nothing was compared"
    console.print(Text(f"{summary}; run folder: {run.path} ({run.manifest['state']})"))
    return buffer.getvalue().rstrip("\n")


def _colour() -> bool:
    import sys

    return sys.stdout.isatty()


def _label(row: ResultRow) -> str:
    return row.variant if row.role == Role.OPTIMIZED else f"{row.variant} ({row.role})"


def _table(rows: list[ResultRow], label_width: int, *, heading: bool) -> Table:
    """One pattern's rows; the widths are the same for all patterns, so that columns stand under one another."""
    table = Table(pad_edge=False, box=None, show_header=heading, header_style="dim")
    table.add_column("", width=label_width, overflow="fold")
    for title, width in (("time", 7), ("speed-up", 8), ("95 % interval", 13), ("of roof", 7)):
        table.add_column(title, justify="right", no_wrap=True, width=width)
    table.add_column("verdict", overflow="fold", min_width=14)
    for row in rows:
        verdict = Text(row.verdict, style=COLOURS.get(row.verdict, ""))
        if row.brief:
            verdict.append(f": {row.brief}", style="")
        table.add_row(f"  {_label(row)}", row.time, row.speedup, row.interval, row.roof, verdict)
    return table


def _print_failures(console: Console, run: Run) -> None:
    bad = failures(run)
    if bad:
        console.print(Text("without a result:", style="bold"))
    for key, status, reason in bad:
        console.print(Text(f"  {key}: {status}: {reason}"))
