"""What people read: one module a format. Nothing here measures or judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.records import Run

FORMATS = ("text", "html", "markdown", "csv", "json")


def render(run: Run, form: str) -> str:
    """A run in one of ``FORMATS``."""
    from harness.report import html, markdown, terminal

    if form == "csv":
        return str(run.pairs.to_csv(index=False)).rstrip("\n")
    writers = {
        "text": terminal.as_text,
        "html": html.as_html,
        "markdown": markdown.as_markdown,
        "json": terminal.as_json,
    }
    return writers[form](run)
