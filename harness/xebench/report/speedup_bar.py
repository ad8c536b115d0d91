"""A speed-up and its interval on a logarithmic axis, drawn with characters."""

from __future__ import annotations

import math
from typing import Final

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
