"""A run as one HTML file that needs nothing else: answers, speed-ups with their intervals, provenance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

from xebench.report.answer_words import SIGNS
from xebench.report.remarks import failures, notes
from xebench.report.result_rows import Ends, ResultRow, device_line, result_rows
from xebench.report.roofline_plot import HEIGHT, WIDTH, plots
from xebench.report.run_summary import answer_sentence, headline, highlights, state
from xebench.report.speedup_bar import HIGH, LOW, TICKS
from xebench.report.templates import fill
from xebench.tables import Run

PLOT_WIDTH: Final = 220


def render(run: Run) -> str:
    """The whole page."""
    groups = _groups(result_rows(run))
    chapters = [(name, list(members)) for name, members in groupby(groups, key=lambda group: group["head"].chapter)]
    return fill(
        "xebench.report",
        "run.html.j2",
        run=run,
        headline=headline(run),
        state=state(run),
        answers=answer_sentence(run),
        highlights=highlights(run),
        device=device_line(run),
        notes=notes(run),
        chapters=chapters,
        signs=SIGNS,
        ticks=[(label, position(2.0**power)) for label, power in TICKS.items()],
        failures=failures(run),
        roofs=plots(run),
        plot={"width": WIDTH, "height": HEIGHT},
        facts=_facts(run.manifest),
        width=PLOT_WIDTH,
    )


def _groups(rows: Iterable[ResultRow]) -> list[dict[str, Any]]:
    """A family each: its baseline's row, its pairs with their marks, and an anchor that no other has."""
    groups: list[dict[str, Any]] = []
    met: Counter[str] = Counter()
    for row in rows:
        if row.answer:
            groups[-1]["pairs"].append({"row": row, "mark": interval_mark(row.ends)})
        else:
            met[row.pattern] += 1
            anchor = row.pattern if met[row.pattern] == 1 else f"{row.pattern}-{met[row.pattern]}"
            groups.append({"head": row, "anchor": anchor, "pairs": []})
    return groups


def interval_mark(ends: Ends) -> dict[str, float | bool] | None:
    """Where the speed-up and its interval lie in the plot, in pixels; None when there is none.

    ``below`` and ``above`` tell that something is beyond the axis, ``known`` that there is an interval.
    """
    speedup, low, high = ends
    if speedup is None:
        return None
    values = [value for value in ends if value is not None]
    return {
        "middle": position(speedup),
        "low": position(speedup if low is None else low),
        "high": position(speedup if high is None else high),
        "below": min(values) < 2.0**LOW,
        "above": max(values) > 2.0**HIGH,
        "known": len(values) == len(ends),
    }


def position(speedup: float) -> float:
    """Pixels from the left edge of the plot; at the edge where the speed-up is beyond the axis."""
    if speedup <= 0:
        return 0.0
    return round(PLOT_WIDTH * (max(LOW, min(HIGH, math.log2(speedup))) - LOW) / (HIGH - LOW), 1)


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
