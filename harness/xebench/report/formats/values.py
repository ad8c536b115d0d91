"""The values of a run for programs: its table ``pairs`` as CSV, and cases and pairs as JSON."""

from __future__ import annotations

import json

from xebench.tables import Run
from xebench.tables.analysis import points
from xebench.tables.files import as_csv


def render_csv(run: Run) -> str:
    """All columns of ``pairs``, pattern after pattern as they were measured, each by its parameters."""
    place = {pattern: number for number, pattern in enumerate(run.pairs["pattern"].unique())}
    keys = [
        (place[pattern], points.order(parameters))
        for pattern, parameters in zip(run.pairs["pattern"], run.pairs["parameters"], strict=True)
    ]
    in_order = sorted(range(len(keys)), key=keys.__getitem__)
    return as_csv(run.pairs.iloc[in_order]).rstrip("\n")


def render_json(run: Run) -> str:
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
