"""Lines and tables for a terminal, as text: what the views share."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from xebench.errors import escape_controls


class ShownConsole(Console):
    """A console that shows what a terminal would obey in names and reasons; its own colours are beside the text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The pieces of a line or a table."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_controls(segment.text))


def terminal_width(least: int = 80, elsewhere: int = 80) -> int:
    """Columns to fill.

    Args:
        least: columns that are filled in any case.
        elsewhere: columns where there is no terminal.
    """
    return max(least, shutil.get_terminal_size((elsewhere, 24)).columns)


def plain_table() -> Table:
    """A table without lines."""
    return Table(box=None, pad_edge=False, show_edge=False)


def draw(parts: Iterable[str | Text | Table], width: int, *, colour: bool | None = False, wrap: bool = True) -> str:
    """Lines and tables, one below the other, without a newline at the end.

    Args:
        parts: a string is shown as it is, whatever brackets it holds.
        width: columns of tables.
        colour: whether to colour; None: where standard output is a terminal.
        wrap: whether longer lines are wrapped, rather than left to the terminal.
    """
    buffer = io.StringIO()
    console = ShownConsole(file=buffer, width=width, force_terminal=sys.stdout.isatty() if colour is None else colour)
    for part in parts:
        if isinstance(part, str):
            console.print(Text(escape_controls(part)), soft_wrap=not wrap)  # before lines are broken by their width
        else:
            console.print(part)
    return buffer.getvalue().rstrip("\n")
