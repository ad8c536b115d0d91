"""Markdown tables, whatever their cells hold."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence


def escape(text: object) -> str:
    """A text in one line that starts neither a cell nor HTML; other Markdown in it counts."""
    line = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", " ".join(str(text).split()))
    # a backslash before the one that escapes would escape that
    return re.sub(r"(\\*)\|", r"\1\1\\|", line)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], right: Container[int] = ()) -> list[str]:
    """The lines of a table.

    Args:
        headings: of the columns.
        rows: the cells of each row, one for each heading.
        right: numbers of the columns that are aligned to the right, from 0.
    """
    rule = "|".join("--:" if column in right else "---" for column in range(len(headings)))
    return [_line(headings), f"|{rule}|", *map(_line, rows)]


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(escape, cells))} |"
