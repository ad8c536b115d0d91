"""Lines, tables and speed-ups with their intervals for a terminal, as text: what the views share."""

from __future__ import annotations

import io
import math
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Final

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


#: Ends of the axis as powers of two: 1/4 and 64. Speed-ups are more often large than small.
LOW, HIGH = -2, 6
#: What is written above the axis, and at which power of two.
TICKS: Final = {"1/4": -2, "1": 0, "4": 2, "16": 4, "64": 6}

POINT, POINT_ALONE, INTERVAL, EQUAL, BELOW, ABOVE = "●", "○", "━", "│", "◀", "▶"


def cells_for(room: int) -> int:
    """The most characters within ``room`` that make an axis: as many for each doubling."""
    doublings = HIGH - LOW
    return (room - 1) // doublings * doublings + 1


def axis(cells: int) -> str:
    """The numbers above the axis."""
    line = [" "] * cells
    for label, power in TICKS.items():
        start = min(max(0, _cell(2.0**power, cells) - len(label) // 2), cells - len(label))
        line[start : start + len(label)] = label
    return "".join(line)


def bar(speedup: float | None, low: float | None, high: float | None, cells: int) -> str:
    """A bar: a line at no change, the interval, and the speed-up, which is hollow if its interval is unknown.

    An arrow stands at the edge where any of these is beyond the axis. Without a speed-up there is nothing.
    """
    if speedup is None:
        return " " * cells
    line = [" "] * cells
    line[_cell(1.0, cells)] = EQUAL
    start, end = (_cell(speedup if value is None else value, cells) for value in (low, high))
    line[start : end + 1] = INTERVAL * (end + 1 - start)
    line[_cell(speedup, cells)] = POINT_ALONE if low is None or high is None else POINT
    values = [value for value in (speedup, low, high) if value is not None]
    if min(values) < 2.0**LOW:
        line[0] = BELOW
    if max(values) > 2.0**HIGH:
        line[-1] = ABOVE
    return "".join(line)


def _cell(speedup: float, cells: int) -> int:
    """Where a speed-up lies; at the edge where that is beyond the axis."""
    power = min(max(math.log2(speedup), LOW), HIGH) if speedup > 0 else LOW
    return round((power - LOW) / (HIGH - LOW) * (cells - 1))
