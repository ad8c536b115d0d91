"""A variant's samples: how their times are distributed, and each of them in the order in which it was taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup

from xebench.report.charts.svg import SERIES, WIDTH, Scale, around, below, chart, line, tag, text, time_unit
from xebench.tables.analysis.statistics import Floats

#: Bins of the whole axis.
BINS: Final = 72
_DISTRIBUTION_ROW, _HILL = 46.0, 24.0
#: Where the largest median is so many times the smallest, each variant is shown around its own.
_APART: Final = 3.0
#: Part of the samples that the axis leaves out at each side; a chart of single samples draws these at its ends.
_LEFT_OUT: Final = 0.005


@dataclass(frozen=True)
class VariantSamples:
    """A variant's samples: its name, its times in ns in order, its instance of each."""

    name: str
    times_ns: Floats
    instances: Floats

    @property
    def median_ns(self) -> float:
        """The median of all samples."""
        return float(np.median(self.times_ns))


def draw_distribution(variants: Sequence[VariantSamples]) -> Markup:
    """The chart of variants that have samples, on one axis: of times, or of each time over its variant's median."""
    medians = [each.median_ns for each in variants]
    relative = max(medians) > _APART * min(medians)
    factor, unit = (1.0, "") if relative else time_unit(max(medians))
    values = [each.times_ns / (each.median_ns if relative else factor) for each in variants]
    inner = [np.quantile(own, (_LEFT_OUT, 1 - _LEFT_OUT)) for own in values]
    x = around([float(end) for ends in inner for end in ends], 8, WIDTH - 8, logarithmic=False, room=0.02)
    bottom = 8 + _DISTRIBUTION_ROW * len(variants)
    title = "time over the variant's median" if relative else f"time in {unit}"
    parts = below(x, [(value, f"{value:.6g}") for value in x.ticks()], 4, bottom, title)
    for number, (each, own) in enumerate(zip(variants, values, strict=True)):
        parts += _distribution_row(number, each, own, x, 8 + _DISTRIBUTION_ROW * number)
    return chart(_distribution_finding(variants), bottom + 36, parts)


def _distribution_row(number: int, variant: VariantSamples, values: Floats, x: Scale, top: float) -> list[Markup]:
    kind = f"s{number % SERIES}"
    base = top + _DISTRIBUTION_ROW - 8
    counts, _ = np.histogram(values, bins=BINS, range=(x.low, x.high))
    step = (x.end - x.begin) / BINS
    heights = _HILL * counts / max(1, counts.max())
    hill = " ".join(f"V{base - height:.0f}h{step:.1f}" for height in heights)
    low, middle, high = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    beyond = int((values > x.high).sum() + (values < x.low).sum())
    told = f"{variant.name}, {len(values)} samples" + (f", {beyond} beyond" if beyond else "")
    return [
        tag("path", d=f"M{x.begin:.0f} {base:.0f}{hill}V{base:.0f}Z", class_=f"{kind} hill"),
        tag("rect", x=x.at(low), y=base + 1, width=max(1.0, x.at(high) - x.at(low)), height=4, class_=f"{kind} dot"),
        line(x.at(middle), base - _HILL, x.at(middle), base + 6, f"{kind} bar"),
        text(x.begin, top + 10, told, kind=f"{kind} name"),
    ]


def _distribution_finding(variants: Sequence[VariantSamples]) -> str:
    def describe(each: VariantSamples) -> str:
        low, high = np.quantile(each.times_ns, (0.25, 0.75)) / each.median_ns - 1
        factor, unit = time_unit(each.median_ns)
        around_it = f"half of them from {100 * low:+.2g} to {100 * high:+.2g} %"
        return f"{each.name} median {each.median_ns / factor:.3g} {unit}, {around_it}"

    return f"distribution of the samples: {'; '.join(map(describe, variants))}"


#: Samples of a variant that are drawn, evenly kept: more are not seen in so little room.
MOST: Final = 500
_PANEL, _PLOT, _LEFT = 74.0, 48.0, 40.0
#: Units of the drawn points' coordinates in one of the chart: whole numbers are short.
_FINE: Final = 2


def thinned_out(variant: VariantSamples, most: int = MOST) -> VariantSamples:
    """At most so many of a variant's samples, at even distances, the first and the last among them."""
    count = len(variant.times_ns)
    if count <= most:
        return variant
    places = np.linspace(0, count - 1, most).round().astype(int)
    return VariantSamples(variant.name, variant.times_ns[places], variant.instances[places])


def draw_samples(variants: Sequence[VariantSamples]) -> Markup:
    """The chart of variants that have samples: a panel each, around its own median; each instance has its shade."""
    parts: list[Markup] = []
    for number, variant in enumerate(variants):
        parts += _sample_panel(number, variant, _PANEL * number)
    return chart(_samples_finding(variants), _PANEL * len(variants) + 16, parts)


def _sample_panel(number: int, variant: VariantSamples, top: float) -> Iterator[Markup]:
    shown, median = thinned_out(variant), variant.median_ns
    percent = 100 * (shown.times_ns / median - 1)
    ends = [float(end) for end in np.quantile(percent, (_LEFT_OUT, 1 - _LEFT_OUT))]
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


def _samples_finding(variants: Sequence[VariantSamples]) -> str:
    def describe(each: VariantSamples) -> str:
        half = len(each.times_ns) // 2
        if not half:
            return f"{each.name} has one"
        change = np.median(each.times_ns[half:]) / np.median(each.times_ns[:half]) - 1
        count = len(np.unique(each.instances))
        return f"{each.name} changes by {100 * change:+.2g} % from first to second half, over {count} instances"

    return f"samples in order: {'; '.join(map(describe, variants))}"
