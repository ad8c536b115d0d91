"""The table ``pairs`` of a run as CSV."""

from __future__ import annotations

from xebench.tables import Run
from xebench.tables.analysis import points
from xebench.tables.files import as_csv


def render(run: Run) -> str:
    """All its columns, pattern after pattern as they were measured, each by its parameters."""
    place = {pattern: number for number, pattern in enumerate(run.pairs["pattern"].unique())}
    keys = [
        (place[pattern], points.order(parameters))
        for pattern, parameters in zip(run.pairs["pattern"], run.pairs["parameters"], strict=True)
    ]
    in_order = sorted(range(len(keys)), key=keys.__getitem__)
    return as_csv(run.pairs.iloc[in_order]).rstrip("\n")
