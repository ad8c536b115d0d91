"""Host and device in one execution: a lane for each thread and queue, boxes from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from xebench.report.charts.svg import WIDTH, Scale, below, chart, tag, text, time_unit

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


def draw(name: str, lanes: Sequence[Lane], end_us: float) -> Markup:
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
    return chart(_finding(name, lanes, end_us), bottom + 36, parts)


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


def _finding(name: str, lanes: Sequence[Lane], end_us: float) -> str:
    told = (f"{lane.name} {len(lane.boxes)} in {busy_us(lane):.4g} us" for lane in lanes[:LANES])
    return f"{name}, {end_us:.4g} us: {', '.join(told)}"


def busy_us(lane: Lane) -> float:
    """Time in which anything of a lane was under way, in us."""
    total, until = 0.0, 0.0
    for box in sorted(lane.boxes, key=lambda box: box.begin_us):
        total += max(0.0, box.end_us - max(box.begin_us, until))
        until = max(until, box.end_us)
    return total
