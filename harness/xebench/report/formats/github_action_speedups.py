"""The speed-ups of a run as github-action-benchmark reads them: ``tool: customBiggerIsBetter``.

What slows a whole machine is not in them: both sides of a pair were sampled side by side.
"""

from __future__ import annotations

from xebench.report.formats.github_action_benchmark import as_json, entry, name
from xebench.tables import Run
from xebench.tables.analysis.points import by_place, rows


def render(run: Run) -> str:
    """Each pair's speed-up with half the width of its interval, and its answer; a variant is there once a baseline."""
    devices = by_place(run.devices)
    pairs = {name(row, devices, f" over {row['baseline']}"): row for row in rows(run.pairs)}
    return as_json(
        entry(title, "x", row["speedup"], (row["speedup_low"], row["speedup_high"]), str(row["answer"]))
        for title, row in pairs.items()
    )
