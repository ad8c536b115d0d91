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
from harness.report.rows import ResultRow, device_line, failures, result_rows, verdict_counts

COLOURS = {"confirmed": "green", "refuted": "red", "inconclusive": "yellow", "not applicable": "dim"}


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
    console.print(Text(device_line(run)))
    for family, rows in groupby(result_rows(run), key=lambda row: row.family):
        console.print(_table(family, list(rows), size))
    _print_failures(console, run)
    counts = verdict_counts(run)
    summary = ", ".join(f"{counts[word]} {word}" for word in COLOURS if word in counts) or "nothing was compared"
    console.print(Text(f"{summary}; run folder: {run.path} ({run.manifest['state']})"))
    return buffer.getvalue().rstrip("\n")


def _colour() -> bool:
    import sys

    return sys.stdout.isatty()


def _table(family: str, rows: list[ResultRow], width: int) -> Table:
    table = Table(title=family, title_justify="left", title_style="bold", expand=False, pad_edge=False, box=None)
    for heading in ("pattern", "variant"):
        table.add_column(heading, overflow="fold")
    for heading in ("naive", "time", "speed-up", "95 % interval", "roof"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", ratio=1 if width > 120 else None)
    previous = ""
    for row in rows:
        name = row.pattern + (f" {row.axes}" if row.axes else "")
        role = "" if row.role == "optimized" else f" ({row.role})"
        verdict = Text(row.verdict, style=COLOURS.get(row.verdict, ""))
        if row.verdict != "confirmed" and row.reason:
            verdict.append(f": {row.reason}", style="")
        table.add_row(
            name if name != previous else "",
            row.variant + role,
            row.naive_time if name != previous else "",
            row.time,
            row.speedup,
            row.interval,
            row.roof,
            verdict,
        )
        previous = name
    return table


def _print_failures(console: Console, run: Run) -> None:
    bad = failures(run)
    if bad:
        console.print(Text("without a result:", style="bold"))
    for key, status, reason in bad:
        console.print(Text(f"  {key}: {status}: {reason}"))
