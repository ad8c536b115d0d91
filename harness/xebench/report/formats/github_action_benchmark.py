"""The times of a run as github-action-benchmark reads them: ``tool: customSmallerIsBetter``.

That action keeps a history of each value by its name, and alerts where a value gets worse. It takes a JSON array of
objects with ``name``, ``unit`` and ``value``, and as text ``range`` and ``extra``
(https://github.com/benchmark-action/github-action-benchmark, README, "Minimal setup for custom benchmarks").
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from xebench.report.result_rows import point_words
from xebench.tables import Run
from xebench.tables.analysis.points import Row, by_place, place, rows


def render(run: Run) -> str:
    """The median time of each case and state with half the width of its interval; those without a time are left out."""
    devices, cases = by_place(run.devices), {case["case_id"]: case for case in rows(run.cases)}
    found = [cases[row["case_id"]] | row for row in rows(run.summaries)]
    return as_json(
        entry(name(row, devices), "ns", row["median_ns"], (row["low_ns"], row["high_ns"]), f"{row['n']} samples")
        for row in found
    )


def name(row: Row, devices: Mapping[Any, Row], against: str = "") -> str:
    """The name of a history: a variant at one point, in one state of the caches, on one device."""
    device = devices.get(place(row), {}).get("name") or row["device"]
    variant = f"{row['pattern']}/{row['variant']}{against}"
    return " ".join(filter(None, (variant, row["preset"], point_words(row), f"[{row['device_class']} {device}]")))


def entry(name: str, unit: str, value: float | None, ends: tuple[Any, Any], extra: str) -> dict[str, Any]:
    """A value, with half the width of its interval if that is known."""
    low, high = ends
    spread = {} if low is None or high is None else {"range": f"\N{PLUS-MINUS SIGN} {(high - low) / 2:.3g}"}
    return {"name": name, "unit": unit, "value": value, **spread, "extra": extra}


def as_json(entries: Iterable[dict[str, Any]]) -> str:
    """The file of those that have a value."""
    return json.dumps([entry for entry in entries if entry["value"] is not None], indent=1)
