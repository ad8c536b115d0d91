"""The study in one figure: what each tool finds for what share of false alarms, for every threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import jinja2
import pandas as pd

from harness.studies.noise.known_pairs import CONDITIONS, EXCESSES
from harness.studies.noise.rules import BEST_OF, KNOBS, OURS, OURS_FINE, PYPERF, PYTEST, XEBENCH, XEBENCH_FINE, Knob
from harness.studies.noise.tallies import MOST_ALARMS, Score, Share, curve, scores

WIDTH, HEIGHT = 190, 170
TICKS: Final = (0, 0.05, 0.25, 0.5, 1)
COLORS: Final = {XEBENCH: "#0b57d0", XEBENCH_FINE: "#c2185b", PYTEST: "#b3541e", PYPERF: "#2e7d32", BEST_OF: "#7b1fa2"}
_OWN: Final = (OURS, OURS_FINE)
#: Of several statistics of one tool the one that is drawn.
_DRAWN: Final = tuple(knob for knob in KNOBS if (knob.tool, knob.name) not in {(PYTEST, "min"), (PYTEST, "mean")})


@dataclass(frozen=True)
class Line:
    """A tool's thresholds in one panel, as points of an SVG path."""

    color: str
    points: str


@dataclass(frozen=True)
class Panel:
    """One condition and one true ratio.

    Attributes:
        x: Left edge.
        y: Upper edge.
        title: What is shown.
        lines: The peers.
        crosses: of xebench's arms: color, place and the ends of both intervals.
    """

    x: int
    y: int
    title: str
    lines: list[Line]
    crosses: list[Mapping[str, Any]]


def as_svg(rows: pd.DataFrame) -> str:
    """The figure as an SVG document."""
    text = resources.files(__package__).joinpath("figure.svg.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    names = {**{own.tool: own.label for own in _OWN}, **{knob.tool: f"{knob.tool}, {knob.name}" for knob in _DRAWN}}
    return environment.from_string(text).render(
        panels=panels(rows),
        width=WIDTH,
        height=HEIGHT,
        ticks=[(place(tick), f"{tick:.0%}") for tick in TICKS],
        limit=WIDTH * place(MOST_ALARMS),
        legend=[(names[tool], color) for tool, color in COLORS.items()],
    )


def panels(rows: pd.DataFrame) -> list[Panel]:
    """A row of panels for each condition, a column for each true ratio."""
    result: list[Panel] = []
    for row, condition in enumerate(CONDITIONS):
        reached = scores(rows, condition)
        curves = {knob: [score for _, score in curve(rows, knob, condition)] for knob in _DRAWN}
        for column, excess in enumerate(value for value in EXCESSES if value):
            result.append(
                Panel(
                    x=60 + column * (WIDTH + 30),
                    y=70 + row * (HEIGHT + 70),
                    title=f"{condition}, {excess:.0%} longer",
                    lines=[_line(knob, points, excess) for knob, points in curves.items()],
                    crosses=[
                        {"color": COLORS[own.tool], **_cross(reached[own].alarms, reached[own].found[excess])}
                        for own in _OWN
                    ],
                )
            )
    return result


def place(share: float) -> float:
    """Part of an axis at which a share stands: by its square root, since small shares of false alarms matter."""
    return math.sqrt(share)


def _line(knob: Knob, points: list[Score], excess: float) -> Line:
    pixels = [(_x(score.alarms.value), _y(score.found[excess].value)) for score in points]
    return Line(COLORS[knob.tool], " ".join(f"{x:.1f},{y:.1f}" for x, y in dict.fromkeys(pixels)))


def _cross(alarms: Share, found: Share) -> Mapping[str, float]:
    ends: dict[str, Any] = dict(zip(("left", "right"), map(_x, alarms.interval), strict=True))
    ends |= dict(zip(("bottom", "top"), map(_y, found.interval), strict=True))
    return ends | {"x": _x(alarms.value), "y": _y(found.value)}


def _x(share: float) -> float:
    return round(WIDTH * place(share), 1)


def _y(share: float) -> float:
    return round(HEIGHT * (1 - share), 1)
