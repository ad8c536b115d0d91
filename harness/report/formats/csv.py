"""The table ``pairs`` of a run as CSV."""

from __future__ import annotations

from harness.records import Run


def render(run: Run) -> str:
    """All its columns."""
    return str(run.pairs.to_csv(index=False)).rstrip("\n")
