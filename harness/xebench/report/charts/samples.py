"""Samples in the order in which they were taken: drift, two modes and what differs between instances are seen there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from markupsafe import Markup

from xebench.report.charts.distribution import VariantSamples
from xebench.report.charts.svg import SERIES, WIDTH, around, chart, line, tag, text

#: Samples of a variant that are drawn, evenly kept: more are not seen in so little room.
MOST: Final = 500
_ROW, _PLOT, _LEFT = 74.0, 48.0, 40.0
#: Part of the samples at each side that the axis leaves out; these are drawn at its ends.
_OUT: Final = 0.005
#: Units of the drawn points' coordinates in one of the chart: whole numbers are short.
_FINE: Final = 2


def thinned_out(variant: VariantSamples, most: int = MOST) -> VariantSamples:
    """At most so many of a variant's samples, at even distances, the first and the last among them."""
    count = len(variant.times_ns)
    if count <= most:
        return variant
    places = np.linspace(0, count - 1, most).round().astype(int)
    return VariantSamples(variant.name, variant.times_ns[places], variant.instances[places])


def draw(variants: Sequence[VariantSamples]) -> Markup:
    """The chart of variants that have samples: a panel each, around its own median; each instance has its shade."""
    parts: list[Markup] = []
    for number, variant in enumerate(variants):
        parts += _panel(number, variant, _ROW * number)
    return chart(_finding(variants), _ROW * len(variants) + 16, parts)


def _panel(number: int, variant: VariantSamples, top: float) -> Iterator[Markup]:
    shown, median = thinned_out(variant), variant.median_ns
    percent = 100 * (shown.times_ns / median - 1)
    ends = [float(end) for end in np.quantile(percent, (_OUT, 1 - _OUT))]
    plot = top + 20
    y = around([*ends, 0.0], plot + _PLOT, plot, logarithmic=False)
    step = (WIDTH - _LEFT) / max(1, len(percent))
    name = f"{variant.name}, {len(percent)} of {len(variant.times_ns)} samples in order"
    yield text(0, top + 12, name, kind=f"s{number % SERIES} name")
    for first, last in _bands(shown):
        yield tag("rect", x=_LEFT + step * first, y=plot, width=step * (last - first), height=_PLOT, class_="band")
    for value in dict.fromkeys((y.ticks(3)[0], 0.0, y.ticks(3)[-1])):
        yield line(_LEFT, y.at(value), WIDTH, y.at(value), "one" if value == 0 else "grid")
        yield text(_LEFT - 4, y.at(value) + 4, f"{value:+.3g} %" if value else "0 %", anchor="end")
    rows = [round(_FINE * y.at(float(value))) for value in percent]
    columns = [round(_FINE * (_LEFT + step * (place + 0.5))) for place in range(len(rows))]
    yield tag(
        "path",
        d=_dots(columns, rows),
        transform=f"scale({1 / _FINE})",
        class_=f"s{number % SERIES} dots",
    )


def _bands(variant: VariantSamples) -> Iterator[tuple[int, int]]:
    """Every second instance: the places of its first sample, and of the one after its last."""
    changes = [0, *(np.flatnonzero(np.diff(variant.instances)) + 1).tolist(), len(variant.instances)]
    yield from zip(changes[1::2], changes[2::2], strict=False)


def _dots(columns: Sequence[int], rows: Sequence[int]) -> str:
    """A path of points: lines without length, whose round ends are what is seen."""
    found, x, y = [f"M{columns[0]} {rows[0]}h0"], columns[0], rows[0]
    for column, row in zip(columns[1:], rows[1:], strict=True):
        between = "" if row < y else " "  # a minus begins a number, too
        found.append(f"m{column - x}{between}{row - y}h0")
        x, y = column, row
    return "".join(found)


def _finding(variants: Sequence[VariantSamples]) -> str:
    def describe(each: VariantSamples) -> str:
        half = len(each.times_ns) // 2
        if not half:
            return f"{each.name} has one"
        change = np.median(each.times_ns[half:]) / np.median(each.times_ns[:half]) - 1
        count = len(np.unique(each.instances))
        return f"{each.name} changes by {100 * change:+.2g} % from first to second half, over {count} instances"

    return f"samples in order: {'; '.join(map(describe, variants))}"
