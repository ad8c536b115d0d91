"""Elements of SVG as text that is safe in a page, and the axes of a chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

#: Width of a chart in its own units: pixels on a narrow page.
WIDTH: Final = 360
#: Number of distinct colours and marks of series; further series repeat them.
SERIES: Final = 8


def tag(name: str, *inside: str, **attributes: object) -> Markup:
    """An element. ``_`` in an attribute's name is ``-``, at its end nothing; one that is None is left out."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{said}>{''.join(map(escape, inside))}</{name}>")


def _short(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value


def chart(label: str, height: float, parts: Iterable[str], *, left: float = 0, width: float = WIDTH) -> Markup:
    """A whole chart, which is as wide as its place in the page.

    Args:
        label: a sentence that describes the chart, for readers who cannot see it.
        height: height in user units.
        parts: elements of the chart.
        left: left edge in user units.
        width: width in user units.
    """
    box = f"{left:g} 0 {width:g} {height:g}"
    return tag("svg", *parts, class_="chart", viewBox=box, role="img", aria_label=label)


def text(x: float, y: float, words: str, *, anchor: str | None = None, kind: str | None = None) -> Markup:
    """Words; ``anchor`` is start by default, middle or end."""
    return tag("text", words, x=x, y=y, text_anchor=anchor, class_=kind)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """A straight line of a class of the page's style."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def below(x: Scale, ticks: Sequence[tuple[float, str]], top: float, bottom: float, title: str) -> list[Markup]:
    """Lines, numbers and title of the axis at the bottom."""
    parts: list[Markup] = []
    free = -1e9
    for value, words in ticks:
        at, half = x.at(value), 3.3 * len(words)
        parts.append(line(at, top, at, bottom, "grid"))
        if at - half > free:
            inside = min(max(at, half), WIDTH - half)
            parts.append(text(inside, bottom + 14, words, anchor="middle"))
            free = at + half + 4
    return [*parts, text((x.begin + x.end) / 2, bottom + 29, title, anchor="middle")]


def beside(y: Scale, ticks: Sequence[tuple[float, str]], left: float, right: float, title: str) -> list[Markup]:
    """Lines and numbers of the axis at the left, and its title above it."""
    parts = [text(0, min(y.begin, y.end) - 8, title)]
    for value, words in ticks:
        at = y.at(value)
        parts += [line(left, at, right, at, "grid"), text(left - 5, at + 4, words, anchor="end")]
    return parts


def mark(number: int, x: float, y: float, title: str = "") -> Markup:
    """The point of a series: each has a shape of its own, since not everybody sees its colour."""
    shapes = (
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
        "M-3.6 -3.6H3.6V3.6H-3.6Z",
        "M0 -4.6L4.4 3.4H-4.4Z",
        "M0 -5L4.6 0L0 5L-4.6 0Z",
        "M-4.4 -3.4H4.4L0 4.6Z",
        "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z",
        "M0 -5L1.5 -1.5L5 0L1.5 1.5L0 5L-1.5 1.5L-5 0L-1.5 -1.5Z",
        "M-5 -2H5V2H-5Z",
    )
    inside = [tag("title", title)] if title else []
    place = f"translate({x:.1f} {y:.1f})"
    return tag("path", *inside, d=shapes[number % SERIES], transform=place, class_=f"s{number % SERIES} dot")


def legend(names: Sequence[str], top: float, width: float = WIDTH) -> tuple[list[Markup], float]:
    """The series' marks and names in as many lines as they need, and where these end."""
    parts, x, y = [], 6.0, top + 8
    for number, name in enumerate(names):
        needed = 14 + 6.3 * len(name)
        if x > 6 and x + needed > width:
            x, y = 6.0, y + 16
        parts += [mark(number, x, y - 4), text(x + 9, y, name)]
        x += needed + 10
    return parts, y + 6


#: Ratio of the largest to the smallest value from which an axis is logarithmic.
WIDE: Final = 8.0


@dataclass(frozen=True)
class Scale:
    """An axis.

    Attributes:
        low, high: values at its ends; of a logarithmic axis both are above 0.
        begin, end: pixels at its ends; of an axis that points up ``begin`` is the larger one.
        logarithmic: True if equal ratios have equal length.
    """

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """The position of a value on the axis; the nearer end for a value beyond it."""
        inside = min(max(value, self.low), self.high)
        low, high, own = (self._measure(each) for each in (self.low, self.high, inside))
        return self.begin + (self.end - self.begin) * (own - low) / (high - low)

    def holds(self, value: float) -> bool:
        """True if a value is not beyond the axis."""
        return self.low <= value <= self.high

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on the axis, some of them, in order."""
        if not self.logarithmic or self.high / self.low < WIDE / 2:
            return self._even(most)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1,)):
            found = [digit * 10.0**power for power in powers for digit in digits if self.holds(digit * 10.0**power)]
            if len(found) <= most:
                return found
        return found[:: math.ceil(len(found) / most)]

    def ratios(self, most: int = 7) -> list[float]:
        """Powers of two on the axis, 1 among them where it is there."""
        powers = range(math.ceil(math.log2(self.low) - 1e-9), math.floor(math.log2(self.high) + 1e-9) + 1)
        step = max(1, math.ceil(len(powers) / most))
        return [2.0**power for power in powers if power % step == 0]

    def _even(self, most: int) -> list[float]:
        rough = (self.high - self.low) / max(1, most - 1)
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    def _measure(self, value: float) -> float:
        return math.log(value) if self.logarithmic else value


def around(
    values: Iterable[float], begin: float, end: float, *, logarithmic: bool | None = None, room: float = 0.06
) -> Scale:
    """An axis that contains all values.

    Args:
        values: one or more finite values.
        begin, end: pixels, as in `Scale`.
        logarithmic: True for a logarithmic axis; by default if all values are above 0 and the largest is at least
            `WIDE` times the smallest.
        room: free part of the axis at each end.
    """
    known = [*values]
    low, high = min(known), max(known)
    if logarithmic is None:
        logarithmic = low > 0 and high / low >= WIDE
    if logarithmic:
        factor = max((high / low) ** room, 1.02)
        return Scale(low / factor, high * factor, begin, end, logarithmic=True)
    free = room * (high - low) or abs(high) * room or 1.0
    return Scale(max(0.0, low - free) if low >= 0 else low - free, high + free, begin, end)


def ratio_text(value: float) -> str:
    """A power of two beside an axis: ``1/4``, ``16``."""
    return f"1/{1 / value:g}" if value < 1 else f"{value:g}"


def time_unit(largest_ns: float) -> tuple[float, str]:
    """The unit for an axis of times: how many ns it has, and its name."""
    return next((known for known in ((1e9, "s"), (1e6, "ms"), (1e3, "us")) if largest_ns >= known[0]), (1.0, "ns"))
