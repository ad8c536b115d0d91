"""Which entries of the guide's catalogue have a pattern: ``python -m harness.pages.coverage > docs/coverage.md``."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import resources

from harness.patterns.declaration import PatternInfo
from harness.patterns.registry import discover
from harness.report.markdown_table import table
from harness.report.templates import fill


def entries() -> list[dict[str, str]]:
    """The catalogue's entries: id, name and place in the guide."""
    text = resources.files(__package__).joinpath("data/catalogue.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def markdown(infos: Sequence[PatternInfo]) -> str:
    """The page: one row an entry, with its patterns or ``not yet``."""
    by_entry: dict[str, list[str]] = {}
    for info in infos:
        for entry in info.catalogue:
            by_entry.setdefault(entry, []).append(info.name)
    rows = [
        (entry["id"], entry["name"], entry["guide"], ", ".join(f"`{name}`" for name in by_entry.get(entry["id"], ())))
        for entry in entries()
    ]
    done = sum(bool(patterns) for *_, patterns in rows)
    lines = table(("entry", "name", "guide", "patterns"), [(*cells, names or "not yet") for *cells, names in rows])
    counts = {"done": done, "entries": len(rows), "patterns": len(infos)}
    return fill("harness.pages", "coverage.md.j2", table=lines, **counts) + "\n"


if __name__ == "__main__":
    print(markdown(discover()), end="")
