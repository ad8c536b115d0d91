"""Programs under a device's roofs: rate over operations per byte, both logarithmic (Williams et al. 2009).

Each level of the memory has a slope of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from xebench.report.charts.svg import WIDTH, Scale, around, below, beside, chart, line, tag, text

_LEFT, _TOP, _PLOT = 46.0, 26.0, 200.0


@dataclass(frozen=True)
class RoofLines:
    """The roofs of a device.

    Attributes:
        kind: of the operations: fp32, fp64 or int32.
        unit: of their rate.
        rate: the most operations, in 1e9 a second.
        levels: name and bandwidth of each level of the memory, in GB/s; the slowest is the memory itself.
    """

    kind: str
    unit: str
    rate: float
    levels: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Placed:
    """A program under the roofs.

    Attributes:
        intensity: operations per byte of the least traffic.
        rate: operations in 1e9 a second.
        number: beside its point; "" for none.
        title: it in words.
        is_optimized: then its point is filled.
        anchor: where a click leads in the page; "" for nowhere.
    """

    intensity: float
    rate: float
    number: str
    title: str
    is_optimized: bool
    anchor: str = ""


def draw(roofs: RoofLines, programs: Sequence[Placed], label: str) -> Markup:
    """The chart of at least one program."""
    ridges = [roofs.rate / bandwidth for _, bandwidth in roofs.levels]
    x = around([*ridges, *(each.intensity for each in programs)], _LEFT, WIDTH - 8, logarithmic=True, room=0.1)
    bottom = _TOP + _PLOT
    y = around([roofs.rate, *(each.rate for each in programs)], bottom, _TOP, logarithmic=True, room=0.1)
    parts = [
        *beside(y, [(value, f"{value:g}") for value in y.ticks(6)], _LEFT, WIDTH, roofs.unit),
        *below(x, [(value, f"{value:g}") for value in x.ticks(6)], _TOP, bottom, "operations per byte"),
        *_roofs(roofs, x, y),
        *_points(programs, x, y),
    ]
    return chart(label, bottom + 36, parts)


def _roofs(roofs: RoofLines, x: Scale, y: Scale) -> Iterator[Markup]:
    top = min(roofs.rate / bandwidth for _, bandwidth in roofs.levels)
    yield line(x.at(top), y.at(roofs.rate), x.end, y.at(roofs.rate), "roof")
    yield text(x.end, y.at(roofs.rate) - 5, f"{roofs.kind} {roofs.rate:.4g} {roofs.unit}", anchor="end")
    for name, bandwidth in roofs.levels:
        # a slope begins where it enters the plot, at its left or its lower edge
        begin = max(x.low, y.low / bandwidth)
        ridge = roofs.rate / bandwidth
        yield line(x.at(begin), y.at(begin * bandwidth), x.at(ridge), y.at(roofs.rate), "roof")
        yield _along(f"{name} {bandwidth:.4g} GB/s", begin, ridge, bandwidth, x, y)


def _along(words: str, begin: float, end: float, bandwidth: float, x: Scale, y: Scale) -> Markup:
    """Words along the lower part of a slope."""
    first, last = (x.at(begin), y.at(begin * bandwidth)), (x.at(end), y.at(end * bandwidth))
    angle = math.degrees(math.atan2(last[1] - first[1], last[0] - first[0]))
    place = f"translate({first[0] + 6:.1f} {first[1] - 4:.1f}) rotate({angle:.1f})"
    return tag("text", words, transform=place, class_="level")


def _points(programs: Sequence[Placed], x: Scale, y: Scale) -> Iterator[Markup]:
    written: list[tuple[float, float]] = []
    for program in programs:
        at_x, at_y = x.at(program.intensity), y.at(program.rate)
        kind = "s0 dot" if program.is_optimized else "s0 hollow"
        point = tag("circle", tag("title", program.title), cx=at_x, cy=at_y, r=4, class_=kind)
        yield tag("a", point, href=f"#{program.anchor}", tabindex=-1) if program.anchor else point
        if program.number:
            place = at_x + 6
            while any(abs(place - other) < 12 and abs(at_y - row) < 10 for other, row in written):
                place += 13
            written.append((place, at_y))
            yield text(place, at_y + 4, program.number, kind="number")
