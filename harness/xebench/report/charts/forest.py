"""Speed-ups with their intervals, one below the other: a row each, all on one logarithmic axis with a line at 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from xebench.report.charts.scale import Scale, around, ratio_text
from xebench.report.charts.svg import chart, line, tag, text

WIDTH: Final = 232
_HEIGHT, _LANE, _TALLEST = 18.0, 6.0, 64.0

#: Shapes of the answers, for those who do not see their colours; every other answer has a hollow point.
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
        speedup: of the variant over its baseline.
        low, high: the ends of its 95 % interval, where that is known.
        guide: what the guide prints, where it prints something.
        answer: the word; it gives colour and shape.
        name: for the row's label.
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
    return around([0.8, 2.0, *values], 6, WIDTH - 6, logarithmic=True, room=0.04)


def axis(scale: Scale) -> Markup:
    """The numbers above the rows."""
    parts = [text(scale.at(value), 12, ratio_text(value), anchor="middle") for value in scale.ratios()]
    return chart("slower left of 1, faster right of it", 16, parts, width=WIDTH)


def row(estimate: Estimate, scale: Scale) -> Markup:
    """One row: the interval as a line, the speed-up as the answer's shape, the guide's figure as a hollow diamond."""
    return chart(estimate.label, _HEIGHT, [_grid(scale, _HEIGHT), *_drawn(estimate, scale, _HEIGHT / 2)], width=WIDTH)


def strip(estimates: Sequence[Estimate], scale: Scale, label: str) -> Markup:
    """Many in little room, each a little below the last: for an overview."""
    height = min(max(_HEIGHT, 10 + _LANE * len(estimates)), _TALLEST)
    drawn = [_drawn(each, scale, 5 + (height - 10) * (n + 0.5) / len(estimates)) for n, each in enumerate(estimates)]
    return chart(label, height, [_grid(scale, height), *(part for parts in drawn for part in parts)], width=WIDTH)


def _grid(scale: Scale, height: float) -> Markup:
    return line(scale.at(1.0), 0, scale.at(1.0), height, "one")


def _drawn(estimate: Estimate, scale: Scale, y: float) -> list[Markup]:
    kind = f"a-{estimate.answer.replace(' ', '-')}"
    low, high = (estimate.speedup if each is None else each for each in (estimate.low, estimate.high))
    parts = [line(scale.at(low), y, scale.at(high), y, f"{kind} bar")]
    if estimate.guide:
        parts.append(_shape("M0 -5.5L5.5 0L0 5.5L-5.5 0Z", scale.at(estimate.guide), y, "guide"))
    # an arrow where any of it is beyond the axis
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
