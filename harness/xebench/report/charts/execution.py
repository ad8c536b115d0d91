"""A program as it executes: under its device's roofs, and beside the host's calls in time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from xebench.report.charts.svg import WIDTH, Scale, around, below, beside, chart, line, tag, text, time_unit

_AXIS_LEFT, _PLOT_TOP, _PLOT_HEIGHT = 46.0, 26.0, 200.0


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


def draw_roofs(roofs: RoofLines, programs: Sequence[Placed], label: str) -> Markup:
    """The chart of at least one program."""
    ridges = [roofs.rate / bandwidth for _, bandwidth in roofs.levels]
    x = around([*ridges, *(each.intensity for each in programs)], _AXIS_LEFT, WIDTH - 8, logarithmic=True, room=0.1)
    bottom = _PLOT_TOP + _PLOT_HEIGHT
    y = around([roofs.rate, *(each.rate for each in programs)], bottom, _PLOT_TOP, logarithmic=True, room=0.1)
    parts = [
        *beside(y, [(value, f"{value:g}") for value in y.ticks(6)], _AXIS_LEFT, WIDTH, roofs.unit),
        *below(x, [(value, f"{value:g}") for value in x.ticks(6)], _PLOT_TOP, bottom, "operations per byte"),
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


_LANE, _BOX = 30.0, 14.0
#: Lanes of one execution that are drawn.
LANES: Final = 8
#: A box that is so near the one before it of its kind, and so narrow, in units of the chart, is drawn as one with it.
_NEAR, _NARROW = 0.5, 1.5

#: Kinds of boxes that look like another.
_ALIKE: Final = {"fill": "copy", "build": "compile", "queue": "allocation", "barrier": "wait"}


@dataclass(frozen=True)
class Box:
    """Something that lasted: its name and kind, and when it began and ended, in us from the execution's begin."""

    name: str
    kind: str
    begin_us: float
    end_us: float


@dataclass(frozen=True)
class Lane:
    """A thread of the host, or commands of one sort on a queue."""

    name: str
    boxes: Sequence[Box]


def draw_timeline(name: str, lanes: Sequence[Lane], end_us: float) -> Markup:
    """The chart of one execution.

    Args:
        name: of the variant.
        lanes: from the top down.
        end_us: where the axis ends, in us.
    """
    shown = lanes[:LANES]
    x = Scale(0.0, end_us or 1.0, 4, WIDTH - 4)
    bottom = 22 + _LANE * len(shown)
    factor, unit = time_unit(1e3 * end_us)
    ticks = [(value, f"{1e3 * value / factor:.4g}") for value in x.ticks(5)]
    parts = [text(0, 13, name, kind="name"), *below(x, ticks, 20, bottom, f"{unit} since the first moment")]
    for number, lane in enumerate(shown):
        top = 22 + _LANE * number
        parts.append(text(4, top + 11, f"{lane.name} ({len(lane.boxes)})", kind="lane"))
        parts += _boxes(lane, x, top + 14)
    return chart(_timeline_finding(name, lanes, end_us), bottom + 36, parts)


def _boxes(lane: Lane, x: Scale, top: float) -> Iterator[Markup]:
    drawn: list[tuple[float, float, list[Box]]] = []
    # what encloses others comes first, and lies behind them
    for box in sorted(lane.boxes, key=lambda box: (box.begin_us, -box.end_us)):
        begin, end = x.at(box.begin_us), x.at(box.end_us)
        if drawn and drawn[-1][2][0].kind == box.kind and begin <= drawn[-1][1] + _NEAR and end - begin < _NARROW:
            start, last, boxes = drawn.pop()
            drawn.append((start, max(last, end), [*boxes, box]))
        else:
            drawn.append((begin, end, [box]))
    for begin, end, boxes in drawn:
        first = boxes[0]
        lasted = boxes[-1].end_us - first.begin_us
        told = first.name if len(boxes) == 1 else f"{first.name} and {len(boxes) - 1} more"
        inside = tag("title", f"{told}: {lasted:.4g} us from {first.begin_us:.4g} us")
        width = end - begin
        kind = f"k-{word(first.kind)} {'box' if width > 3 else 'thin'}"
        yield tag("rect", inside, x=begin, y=top, width=max(width, 1.0), height=_BOX, class_=kind)


def word(kind: str) -> str:
    """A kind as the page's style has it; copies and fills, for one, have one colour."""
    return _ALIKE.get(kind, kind if kind.isalpha() else "other")


def _timeline_finding(name: str, lanes: Sequence[Lane], end_us: float) -> str:
    told = (f"{lane.name} {len(lane.boxes)} in {busy_us(lane):.4g} us" for lane in lanes[:LANES])
    return f"{name}, {end_us:.4g} us: {', '.join(told)}"


def busy_us(lane: Lane) -> float:
    """Time in which anything of a lane was under way, in us."""
    total, until = 0.0, 0.0
    for box in sorted(lane.boxes, key=lambda box: box.begin_us):
        total += max(0.0, box.end_us - max(box.begin_us, until))
        until = max(until, box.end_us)
    return total
