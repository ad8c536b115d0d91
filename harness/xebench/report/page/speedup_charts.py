"""Charts of speed-ups with their intervals: one below the other, and as curves along a parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from xebench.report.page.svg import (
    SERIES,
    WIDTH,
    Scale,
    around,
    below,
    beside,
    chart,
    legend,
    line,
    mark,
    ratio_text,
    tag,
    text,
)

FOREST_WIDTH: Final = 232

_HEIGHT, _LANE, _TALLEST = 18.0, 6.0, 64.0

#: Shapes of the answers, for readers who cannot see their colours; every other answer has a hollow point.
_SHAPES: Final = {
    "holds": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
    "inverts": "M-4.5 -3L-3 -4.5L0 -1.5L3 -4.5L4.5 -3L1.5 0L4.5 3L3 4.5L0 1.5L-3 4.5L-4.5 3L-1.5 0Z",
    "no effect": "M-3.4 -3.4H3.4V3.4H-3.4Z",
}

_HOLLOW: Final = "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0Z"


@dataclass(frozen=True)
class Estimate:
    """A speed-up with its interval and the guide's figure.

    Attributes:
        speedup: speed-up of the variant over its baseline.
        low, high: ends of the 95 % interval; None if unknown.
        guide: figure that the guide prints; None without one.
        answer: answer, which sets colour and shape.
        name: label of the row.
    """

    speedup: float
    low: float | None
    high: float | None
    guide: float | None
    answer: str
    name: str

    @property
    def values(self) -> list[float]:
        """All its numbers that an axis can hold."""
        return [each for each in (self.speedup, self.low, self.high, self.guide) if each is not None and each > 0]

    @property
    def label(self) -> str:
        """It in words: ``cached 2.00 times as fast, 95 % interval 1.98 to 2.02: holds``."""
        known = self.low is not None and self.high is not None
        ends = f", 95 % interval {self.low:.3g} to {self.high:.3g}" if known else ", interval not known"
        guide = f", the guide prints {self.guide:.3g}" if self.guide else ""
        return f"{self.name} {self.speedup:.3g} times as fast{ends}{guide}: {self.answer}"


def axis_of(estimates: Sequence[Estimate]) -> Scale:
    """The axis of some rows: 1 and 2 at least, and all that they hold."""
    values = [value for each in estimates for value in each.values]
    return around([0.8, 2.0, *values], 6, FOREST_WIDTH - 6, logarithmic=True, room=0.04)


def axis(scale: Scale) -> Markup:
    """The numbers above the rows."""
    parts = [text(scale.at(value), 12, ratio_text(value), anchor="middle") for value in scale.ratios()]
    return chart("slower left of 1, faster right of it", 16, parts, width=FOREST_WIDTH)


def row(estimate: Estimate, scale: Scale) -> Markup:
    """One row: the interval as a line, the speed-up as the answer's shape, the guide's figure as a hollow diamond."""
    return chart(
        estimate.label, _HEIGHT, [_grid(scale, _HEIGHT), *_drawn(estimate, scale, _HEIGHT / 2)], width=FOREST_WIDTH
    )


def strip(estimates: Sequence[Estimate], scale: Scale, label: str) -> Markup:
    """Many in little room, each a little below the last: for an overview."""
    height = min(max(_HEIGHT, 10 + _LANE * len(estimates)), _TALLEST)
    drawn = [_drawn(each, scale, 5 + (height - 10) * (n + 0.5) / len(estimates)) for n, each in enumerate(estimates)]
    return chart(
        label, height, [_grid(scale, height), *(part for parts in drawn for part in parts)], width=FOREST_WIDTH
    )


def _grid(scale: Scale, height: float) -> Markup:
    return line(scale.at(1.0), 0, scale.at(1.0), height, "one")


def _drawn(estimate: Estimate, scale: Scale, y: float) -> list[Markup]:
    kind = f"a-{estimate.answer.replace(' ', '-')}"
    low, high = (estimate.speedup if each is None else each for each in (estimate.low, estimate.high))
    parts = [line(scale.at(low), y, scale.at(high), y, f"{kind} bar")]
    if estimate.guide:
        parts.append(_shape("M0 -5.5L5.5 0L0 5.5L-5.5 0Z", scale.at(estimate.guide), y, "guide"))
    # an arrow if part of the interval is beyond the axis
    if min(low, estimate.speedup) < scale.low:
        parts.append(_shape("M-5 0L2 -5V5Z", scale.begin, y, f"{kind} beyond"))
    if max(high, estimate.speedup) > scale.high:
        parts.append(_shape("M5 0L-2 -5V5Z", scale.end, y, f"{kind} beyond"))
    if scale.holds(estimate.speedup):
        # without an interval the point is hollow
        shape = _SHAPES.get(estimate.answer, _HOLLOW) if estimate.low is not None else _HOLLOW
        filled = estimate.answer in _SHAPES and estimate.low is not None
        parts.append(_shape(shape, scale.at(estimate.speedup), y, f"{kind} {'dot' if filled else 'hollow'}"))
    return parts


def _shape(path: str, x: float, y: float, kind: str) -> Markup:
    return tag("path", d=path, transform=f"translate({x:.1f} {y:.1f})", class_=kind)


_LEFT, _PLOT = 46.0, 150.0
#: Ratio of the largest to the smallest value from which an axis is logarithmic; a linear axis shows slopes better.
_VERY_WIDE: Final = 20.0


@dataclass(frozen=True)
class Point:
    """A value along the parameter, and the ends of its interval where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None

    @property
    def values(self) -> list[float]:
        """The values that the axis must show."""
        return [each for each in (self.y, self.low, self.high) if each is not None and each > 0]


@dataclass(frozen=True)
class ChartLine:
    """A line: its name, and points in the order of x."""

    name: str
    points: Sequence[Point]


def draw(series: Sequence[ChartLine], parameter: str, quantity: str, *, is_ratio: bool = False) -> Markup:
    """The chart.

    Args:
        series: one or more series, each with at least one point.
        parameter: parameter on the horizontal axis.
        quantity: quantity on the vertical axis.
        is_ratio: True for speed-ups, which get a line at 1 and a logarithmic axis.
    """
    xs = sorted({point.x for each in series for point in each.points})
    ys = [value for each in series for point in each.points for value in point.values]
    head, top = legend([each.name for each in series], 4)
    top += 18
    x = around(xs, _LEFT + 8, WIDTH - 12)
    y = _upwards([*ys, 1.0] if is_ratio else ys, top, is_ratio=is_ratio)
    powers = y.ratios(5) if is_ratio else []
    written = (
        [(value, ratio_text(value)) for value in powers]
        if len(powers) > 2
        else [(value, f"{value:g}") for value in y.ticks(5)]
    )
    parts = [
        *head,
        *beside(y, written, _LEFT, WIDTH, quantity),
        *below(x, [(value, _number(value)) for value in xs], top, top + _PLOT, parameter),
        *([line(_LEFT, y.at(1.0), WIDTH, y.at(1.0), "one")] if is_ratio else []),
    ]
    for number, each in enumerate(series):
        parts += _line(number, each, x, y)
    return chart(_finding(series, parameter, quantity), top + _PLOT + 36, parts)


def _upwards(values: Sequence[float], top: float, *, is_ratio: bool) -> Scale:
    if is_ratio:
        return around([min(values) * 0.95, max(values) * 1.05], top + _PLOT, top, logarithmic=True)
    if max(values) / min(values) >= _VERY_WIDE:
        return around(values, top + _PLOT, top, logarithmic=True)
    return around([0.0, *values], top + _PLOT, top, logarithmic=False)


def _line(number: int, series: ChartLine, x: Scale, y: Scale) -> list[Markup]:
    kind = f"s{number % SERIES}"
    corners = " ".join(f"{x.at(point.x):.1f},{y.at(point.y):.1f}" for point in series.points)
    bars = [
        line(x.at(point.x), y.at(point.low), x.at(point.x), y.at(point.high), f"{kind} bar")
        for point in series.points
        if point.low is not None and point.high is not None
    ]
    marks = [
        mark(number, x.at(point.x), y.at(point.y), f"{series.name} at {_number(point.x)}: {point.y:.4g}")
        for point in series.points
    ]
    return [tag("polyline", points=corners, class_=f"{kind} curve"), *bars, *marks]


def _number(value: float) -> str:
    """A parameter's value, short where it is a power of two: ``64Ki``."""
    for power, unit in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if value >= 4 * 2**power and math.log2(value).is_integer():
            return f"{value / 2**power:g}{unit}"
    return f"{value:.0f}" if float(value).is_integer() and value < 1e6 else f"{value:.3g}"


def _finding(series: Sequence[ChartLine], parameter: str, quantity: str) -> str:
    told = (
        f"{each.name} from {each.points[0].y:.3g} at {_number(each.points[0].x)} "
        f"to {each.points[-1].y:.3g} at {_number(each.points[-1].x)}"
        for each in series
    )
    return f"{quantity} along {parameter}: {'; '.join(told)}"
