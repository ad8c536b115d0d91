"""Charts of speed-ups with their intervals, as specifications of Vega-Lite: for the HTML report and for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pandas as pd

Spec: TypeAlias = dict[str, Any]

#: Colour and shape of each answer, for readers who cannot see colours; every other answer has a hollow grey point.
#: Each colour is visible on a light and on a dark page.
_LOOKS: Final = {
    "holds": ("#2f87c8", "circle"),
    "inverts": ("#d9661f", "M-.8,-.8L.8,.8M.8,-.8L-.8,.8"),
    "no effect": ("#a06cd5", "square"),
}
_OTHER: Final = ("#85888c", "circle")
#: Colours of variants, none of which is an answer's.
_PALETTE: Final = ("#1b9e77", "#d6478f", "#a08a00", "#5b7fc7", "#a0703c", "#6aa121", "#169bb0", "#c0504d")
#: An axis is longer than its values by this factor at both ends.
_ROOM: Final = 1.1
#: Labels of an axis of speed-ups.
_TIMES: Final = "format(datum.value, '~g') + 'x'"
#: Axis of strips, which all patterns have in common.
_COMMON: Final = (1 / 8, 64.0)
#: An axis covers at least these speed-ups, so that noise does not look like a difference.
_LEAST: Final = (0.5, 2.0)
#: Ratio of the largest to the smallest value from which an axis is logarithmic.
_WIDE: Final = 8.0
#: An interval ends at most this factor beyond all points: one wide interval must not press the others together.
_BEYOND: Final = 2.0
_FIT: Final = {"type": "fit-x", "contains": "padding"}


def colours(variants: Iterable[str]) -> dict[str, str]:
    """The colour of each variant, in all charts of its pattern."""
    return {name: _PALETTE[place % len(_PALETTE)] for place, name in enumerate(dict.fromkeys(variants))}


def chart(label: str, values: Sequence[Spec], *, width: int | None = None, **kind: Any) -> Spec:
    """A chart of one view.

    Args:
        label: sentence that describes the chart.
        values: rows of its data.
        width: width of the plot in pixels; None for that of the chart's place in a page.
        kind: specification of its kind in Vega-Lite.
    """
    wide: Spec = {"width": width} if width else {"width": "container", "autosize": _FIT}
    return {"description": label, "data": {"values": [*values]}, **wide, **kind}


def by_name(names: Mapping[str, str]) -> Spec:
    """The encoding of a name by its colour, with a legend."""
    legend = {"title": None, "orient": "top", "direction": "vertical", "labelLimit": 320}
    scale = {"domain": [*names], "range": [*names.values()]}
    return {"field": "name", "type": "nominal", "sort": None, "scale": scale, "legend": legend}


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

    @classmethod
    def of(cls, pair: Mapping[Any, Any], name: str) -> Estimate | None:
        """That of a row of the table `pairs`; None if there is no speed-up."""
        columns = ("speedup", "speedup_low", "speedup_high", "guide_speedup")
        speedup, low, high, guide = (None if pd.isna(pair[column]) else float(pair[column]) for column in columns)
        return cls(speedup, low, high, guide, str(pair["answer"]), name) if speedup and speedup > 0 else None

    @property
    def label(self) -> str:
        """It in words: ``cached 2.00 times as fast, 95 % interval 1.98 to 2.02: holds``."""
        known = self.low is not None and self.high is not None
        ends = f", 95 % interval {self.low:.3g} to {self.high:.3g}" if known else ", interval not known"
        guide = f", the guide prints {self.guide:.3g}" if self.guide else ""
        return f"{self.name} {self.speedup:.3g} times as fast{ends}{guide}: {self.answer}"


def forest(estimates: Sequence[Estimate], width: int | None = None) -> Spec:
    """The chart of at least one estimate: a row each.

    Args:
        estimates: estimates to draw, of different names.
        width: width in pixels; None for that of the chart's place in a page.
    """
    middles = [value for each in estimates for value in (each.speedup, each.guide) if value]
    domain = _domain(middles, [end for each in estimates for end in (each.low, each.high) if end])
    limit = {"expr": "containerSize()[0] * 0.5"} if width is None else 300
    names = {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": limit}}
    label = "speed-ups: " + "; ".join(each.label for each in estimates)
    height = 18 * len(estimates)
    return _intervals(label, estimates, domain, {"tickCount": 6}, names, width=width, height=height)


def strip(estimates: Sequence[Estimate], label: str) -> Spec:
    """The chart of many estimates in little room, on an axis that all strips have in common.

    Args:
        estimates: estimates to draw; none for the axis itself.
        label: sentence that describes the chart.
    """
    axis = {"values": [0.125, 0.5, 1, 2, 8, 32], "title": None, "domain": False, "ticks": False, "orient": "top"}
    height = 1 if not estimates else min(max(18, 10 + 6 * len(estimates)), 64)
    rows = {"field": "row", "type": "ordinal", "axis": None, "scale": {"padding": 0.5}}
    padding = {"left": 2, "right": 2, "top": 0, "bottom": 0}
    axis = {"labels": False, **axis} if estimates else axis
    return _intervals(label, estimates, _COMMON, axis, rows, height=height, padding=padding)


def _intervals(
    label: str, estimates: Sequence[Estimate], domain: tuple[float, float], axis: Spec, rows: Spec, **more: Any
) -> Spec:
    """Layers of intervals, points and the guide's figures."""
    scale = {"type": "log", "base": 2, "domain": [domain[0] / _ROOM, domain[1] * _ROOM], "nice": False}
    x = {"scale": scale, "axis": {"labelExpr": _TIMES, "labelSeparation": 4, **axis}}
    tooltip = {"field": "label"}
    return chart(
        label,
        [_row(number, each, domain) for number, each in enumerate(estimates)],
        encoding={"y": rows, "color": {"field": "color", "scale": None}, "tooltip": tooltip},
        layer=[
            _rule("x", 1.0),
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"x": quantity("low", "speed-up", **x), "x2": {"field": "high"}},
            },
            {
                "transform": [{"filter": "datum.guide > 0"}],
                "mark": {"type": "point", "shape": "diamond", "size": 90, "strokeWidth": 1.5},
                "encoding": {"x": quantity("guide", "speed-up", **x), "color": {"value": "#85888c"}},
            },
            {
                "mark": {"type": "point", "size": 50, "opacity": 1},
                "encoding": {
                    "x": quantity("speedup", "speed-up", **x),
                    "shape": {"field": "shape", "scale": None},
                    "fill": {"field": "fill", "scale": None},
                },
            },
        ],
        **more,
    )


def _row(number: int, each: Estimate, domain: tuple[float, float]) -> Spec:
    color, shape = _LOOKS.get(each.answer, _OTHER)
    if each.speedup < domain[0]:
        shape = "triangle-left"
    elif each.speedup > domain[1]:
        shape = "triangle-right"
    is_filled = each.answer in _LOOKS and each.low is not None

    def inside(value: float) -> float:
        return _short(min(max(value, domain[0]), domain[1]))

    return {
        "row": number,
        "name": each.name,
        "speedup": inside(each.speedup),
        "low": inside(each.speedup if each.low is None else each.low),
        "high": inside(each.speedup if each.high is None else each.high),
        "guide": inside(each.guide) if each.guide else None,
        "color": color,
        "shape": shape,
        "fill": color if is_filled else "transparent",
        "label": each.label,
    }


def quantity(field: str, title: str | None = None, **more: Any) -> Spec:
    """The encoding of a field of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def _rule(channel: str, value: float) -> Spec:
    """A dashed line across the chart."""
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "strokeDash": [3, 2]},
        "encoding": {channel: {"datum": value}, "y" if channel == "x" else "x": None, "color": {"value": "#85888c"}},
    }


def _short(value: float) -> float:
    """A value with as many digits as a chart shows."""
    return float(f"{value:.4g}")


def _domain(middles: Sequence[float], ends: Sequence[float] = ()) -> tuple[float, float]:
    """The ends of an axis of speed-ups, which holds all middles, and of intervals as much as `_BEYOND` allows."""
    low, high = min(*middles, _LEAST[0]), max(*middles, _LEAST[1])
    low, high = max(min(low, *ends, low), low / _BEYOND), min(max(high, *ends, high), high * _BEYOND)
    return low, high


@dataclass(frozen=True)
class Point:
    """A value along the parameter, and the ends of its interval where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """A series: its name, points in the order of x, and its colour."""

    name: str
    points: Sequence[Point]
    color: str = _PALETTE[0]


def curves(
    series: Sequence[Curve], parameter: str, title: str, *, is_ratio: bool = False, width: int | None = None
) -> Spec:
    """The chart of at least one series.

    Args:
        series: series with at least one point each.
        parameter: title of the horizontal axis.
        title: title of the vertical axis.
        is_ratio: True for speed-ups, which get a line at 1 and a logarithmic axis.
        width: width in pixels; None for that of the chart's place in a page.
    """
    rows: list[Spec] = [
        {"name": each.name, "x": point.x, "y": _short(point.y), "low": point.low, "high": point.high}
        for each in series
        for point in each.points
    ]
    ys = [row["y"] for row in rows]
    xs = sorted({row["x"] for row in rows})
    if is_ratio:
        ends = [end for row in rows for end in (row["low"], row["high"]) if end]
        low, high = _domain(ys, ends)
        domain = [low / _ROOM, high * _ROOM]
        scale: Spec = {"type": "log", "base": 2, "domain": domain, "nice": False, "clamp": True}
    else:
        scale = {"type": "log"} if min(ys) > 0 and max(ys) / min(ys) >= 2 * _WIDE else {"zero": True, "nice": True}
    names = by_name({each.name: each.color for each in series})
    shapes = {**names, "scale": {"domain": names["scale"]["domain"]}}  # one legend for colour and shape
    axis = {"tickCount": 5, **({"labelExpr": _TIMES} if is_ratio else {})}
    fields = (("name", "variant"), ("x", parameter), ("y", title))
    told = [{"field": field, "title": words} for field, words in fields]
    look = {"color": names, "shape": shapes, "tooltip": told}
    bars = {"color": names, "y": quantity("low", title, scale=scale, axis=axis), "y2": {"field": "high"}}
    line = {"type": "line", "point": {"filled": True, "size": 50, "opacity": 1}}
    return chart(
        _finding(series, parameter, title),
        rows,
        width=width,
        height=190,
        encoding={"x": quantity("x", parameter, **_along(xs))},
        layer=[
            {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": bars},
            {"mark": line, "encoding": {"y": quantity("y", title, scale=scale), **look}},
            *([_rule("y", 1.0)] if is_ratio else []),
        ],
    )


def _along(xs: Sequence[float]) -> Spec:
    """Scale and axis of a parameter with these values, which are short where they are powers of two: ``64Ki``."""
    ki = "datum.value >= 1048576 ? datum.value / 1048576 + 'Mi' : datum.value / 1024 + 'Ki'"
    is_binary = all(x >= 1 and math.log2(x).is_integer() for x in xs)
    words = f"datum.value >= 4096 ? ({ki}) : datum.value" if is_binary else "format(datum.value, '~s')"
    is_log = xs[0] > 0 and xs[-1] / xs[0] >= _WIDE
    return {
        "scale": {"type": "log", "base": 2, "nice": False} if is_log else {"zero": False, "nice": False, "padding": 8},
        "axis": {"values": list(xs), "labelExpr": words, "labelOverlap": "greedy", "labelFlush": True},
    }


def _finding(series: Sequence[Curve], parameter: str, quantity: str) -> str:
    told = (
        f"{each.name} from {each.points[0].y:.3g} at {each.points[0].x:g} "
        f"to {each.points[-1].y:.3g} at {each.points[-1].x:g}"
        for each in series
    )
    return f"{quantity} along {parameter}: {'; '.join(told)}"
