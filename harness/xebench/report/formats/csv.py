"""The table ``pairs`` of a run as CSV."""

from __future__ import annotations

from xebench.analysis import points
from xebench.tables import Run


def render(run: Run) -> str:
    """All its columns, pattern after pattern as they were measured, each by its axes and sizes."""
    place = {pattern: number for number, pattern in enumerate(run.pairs["pattern"].unique())}
    keys = [
        (place[pattern], points.order(axes), points.order(sizes))
        for pattern, axes, sizes in zip(run.pairs["pattern"], run.pairs["axes"], run.pairs["sizes"], strict=True)
    ]
    in_order = sorted(range(len(keys)), key=keys.__getitem__)
    return str(run.pairs.iloc[in_order].to_csv(index=False)).rstrip("\n")
