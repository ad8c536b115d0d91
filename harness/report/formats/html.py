"""A run as one HTML file that needs nothing else: answers, speed-ups with their intervals, provenance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from harness.records import Run
from harness.report.result_rows import answer_counts, device_line, failures, notes, number, result_rows, sorted_pairs
from harness.report.roofline_plot import HEIGHT, WIDTH, plots
from harness.report.templates import fill

# The plot spans speed-ups from 1/16 to 16 on a log axis; what lies outside is drawn at its edge.
SPAN_LOG2 = 4.0
PLOT_WIDTH = 220


def render(run: Run) -> str:
    """The whole page."""
    marks = iter(interval_mark(pair) for pair in sorted_pairs(run))
    rows: list[dict[str, Any]] = [
        {"row": row, "mark": next(marks) if row.answer else None, "key": row.answer.replace(" ", "-")}
        for row in result_rows(run)
    ]
    chapters = [(name, list(items)) for name, items in groupby(rows, key=lambda item: item["row"].chapter)]
    return fill(
        "harness.report",
        "run.html.j2",
        run=run,
        device=device_line(run),
        notes=notes(run),
        chapters=chapters,
        failures=failures(run),
        counts=answer_counts(run),
        roofs=plots(run),
        plot={"width": WIDTH, "height": HEIGHT},
        facts=_facts(run.manifest),
        width=PLOT_WIDTH,
    )


def interval_mark(pair: Mapping[Any, Any]) -> dict[str, float] | None:
    """Where the speed-up and its interval lie in the plot, in pixels; None when there is none."""
    speedup, low, high = (number(pair[key]) for key in ("speedup", "speedup_low", "speedup_high"))
    if speedup is None:
        return None
    ends = {"middle": speedup, "low": low, "high": high}
    return {name: position(speedup if end is None else end) for name, end in ends.items()}


def position(speedup: float) -> float:
    """Pixels from the left edge of the plot; 1 is in the middle."""
    if speedup <= 0:
        return 0.0
    clipped = max(-SPAN_LOG2, min(SPAN_LOG2, math.log2(speedup)))
    return round(PLOT_WIDTH * (clipped + SPAN_LOG2) / (2 * SPAN_LOG2), 1)


def _facts(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The manifest as rows of name and value, nested names joined by dots."""
    rows: list[tuple[str, str]] = []
    for name, value in manifest.items():
        if isinstance(value, Mapping):
            rows += [(f"{name}.{inner}", text) for inner, text in _facts(value)]
        elif isinstance(value, list | tuple):
            rows.append((name, " ".join(map(str, value))))
        else:
            rows.append((name, str(value)))
    return rows
