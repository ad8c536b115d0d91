"""A curve along a parameter: a line for each series, with the intervals of its points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from xebench.report.charts.scale import Scale, around, ratio_text
from xebench.report.charts.svg import SERIES, WIDTH, below, beside, chart, legend, line, mark, tag

_LEFT, _PLOT = 46.0, 150.0
#: Largest over smallest value of a quantity from which its axis is logarithmic: a slope shows better on an even one.
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
        series: at least one, each with a point.
        parameter: what changes, for the axis at the bottom.
        quantity: what is shown, for the axis at the left.
        is_ratio: whether it is a speed-up: then there is a line at 1, and the axis is logarithmic.
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
