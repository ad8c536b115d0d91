"""The distribution of the samples of variants: a histogram each, with its quartiles and the interval of its median."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup

from xebench.report.charts.svg import SERIES, WIDTH, Scale, around, below, chart, line, tag, text, time_unit
from xebench.tables.analysis.statistics import Floats

#: Bins of the whole axis.
BINS: Final = 72
_ROW, _HILL = 46.0, 24.0
#: Where the largest median is so many times the smallest, each variant is shown around its own.
_APART: Final = 3.0
#: Part of the samples that the axis leaves out at each side.
_OUT: Final = 0.005


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


def draw(variants: Sequence[VariantSamples]) -> Markup:
    """The chart of variants that have samples, on one axis: of times, or of each time over its variant's median."""
    medians = [each.median_ns for each in variants]
    relative = max(medians) > _APART * min(medians)
    factor, unit = (1.0, "") if relative else time_unit(max(medians))
    values = [each.times_ns / (each.median_ns if relative else factor) for each in variants]
    inner = [np.quantile(own, (_OUT, 1 - _OUT)) for own in values]
    x = around([float(end) for ends in inner for end in ends], 8, WIDTH - 8, logarithmic=False, room=0.02)
    bottom = 8 + _ROW * len(variants)
    title = "time over the variant's median" if relative else f"time in {unit}"
    parts = below(x, [(value, f"{value:.6g}") for value in x.ticks()], 4, bottom, title)
    for number, (each, own) in enumerate(zip(variants, values, strict=True)):
        parts += _row(number, each, own, x, 8 + _ROW * number)
    return chart(_finding(variants), bottom + 36, parts)


def _row(number: int, variant: VariantSamples, values: Floats, x: Scale, top: float) -> list[Markup]:
    kind = f"s{number % SERIES}"
    base = top + _ROW - 8
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


def _finding(variants: Sequence[VariantSamples]) -> str:
    def describe(each: VariantSamples) -> str:
        low, high = np.quantile(each.times_ns, (0.25, 0.75)) / each.median_ns - 1
        factor, unit = time_unit(each.median_ns)
        around_it = f"half of them from {100 * low:+.2g} to {100 * high:+.2g} %"
        return f"{each.name} median {each.median_ns / factor:.3g} {unit}, {around_it}"

    return f"distribution of the samples: {'; '.join(map(describe, variants))}"
