"""A run as JSON, for scripts."""

from __future__ import annotations

import json

from xebench.tables import Run


def render(run: Run) -> str:
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
