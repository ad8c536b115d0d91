"""Elements of SVG as text that is safe in a page: whatever is written into them is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup, escape

from xebench.report.charts.scale import Scale

#: Width of a chart in its own units: pixels on a narrow page.
WIDTH: Final = 360
#: How many series have a colour and a mark of their own; further ones begin again.
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
        label: what it shows, in a sentence, for those who do not see it.
        height: in its own units.
        parts: its elements.
        left: where its units begin.
        width: in its own units.
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
