"""The study in one figure: what each tool finds for what share of false alarms, for every threshold."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES
from tools.studies.noise.rules import BEST_OF, KNOBS, OURS, OURS_FINE, PYPERF, PYTEST, XEBENCH, XEBENCH_FINE, Rule
from tools.studies.noise.tallies import MOST_ALARMS, Score, Share, curve, scores
from xebench.errors import BrokenEnvironment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE: Final = "Detection against false alarms of xebench, pytest-benchmark, pyperf and best of n"
ALARMS_LABEL: Final = (
    "false alarms: share of A/A pairs that are called faster or slower (square-root axis; dashed: 5%)\n"
    "The upper left corner is best. A line shows what a tool's user could have had with one threshold or another, "
    "chosen with hindsight;\n"
    "xebench states an outcome: a point with the 95% intervals (Wilson) of both shares."
)
FOUND_LABEL: Final = "found: share of pairs that are called in the right direction"
COLORS: Final = {XEBENCH: "#0b57d0", XEBENCH_FINE: "#c2185b", PYTEST: "#b3541e", PYPERF: "#2e7d32", BEST_OF: "#7b1fa2"}
_OWN: Final = (OURS, OURS_FINE)
#: Of several statistics of one tool the one that is drawn.
_DRAWN: Final = tuple(knob for knob in KNOBS if (knob.tool, knob.name) not in {(PYTEST, "min"), (PYTEST, "mean")})


def as_svg(rows: pd.DataFrame) -> str:
    """The figure as an SVG document.

    Raises:
        BrokenEnvironment: matplotlib, which only those need who work on xebench, is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise BrokenEnvironment("the study's figure needs matplotlib: run make install") from error
    document = io.StringIO()
    # text stays text, and equal data give an equal file
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "xebench", "font.sans-serif": ["DejaVu Sans"]}):
        draw(rows).savefig(document, format="svg", metadata={"Title": TITLE, "Date": None, "Creator": None})
    return document.getvalue()


def draw(rows: pd.DataFrame) -> Figure:
    """A row of panels for each condition, a column for each true ratio."""
    from matplotlib.figure import Figure

    excesses = [excess for excess in EXCESSES if excess]
    figure = Figure(figsize=(9.7, 5.9), layout="constrained")
    panels = figure.subplots(len(CONDITIONS), len(excesses), sharex=True, sharey=True, squeeze=False)
    for panels_of_condition, condition in zip(panels, CONDITIONS, strict=True):
        reached = scores(rows, condition)
        curves = {knob: [score for _, score in curve(rows, knob, condition)] for knob in _DRAWN}
        for panel, excess in zip(panels_of_condition, excesses, strict=True):
            _frame(panel, f"{condition}, {excess:.0%} longer")
            for rule in _OWN:
                _draw_point(panel, rule, reached[rule].alarms, reached[rule].detected[excess])
            for knob, points in curves.items():
                _draw_line(panel, knob, points, excess)
    figure.legend(
        *panels[0][0].get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False, fontsize=8
    )
    figure.supxlabel(ALARMS_LABEL, fontsize=8)
    figure.supylabel(FOUND_LABEL, fontsize=8)
    return figure


def _frame(panel: Axes, title: str) -> None:
    panel.set_title(title, loc="left", fontweight="bold", fontsize=9)
    # by the square root, since small shares of false alarms matter
    panel.set_xscale("function", functions=(lambda share: np.sqrt(np.maximum(share, 0)), np.square))
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1)
    panel.set_xticks((0, 0.05, 0.25, 0.5, 1), labels=("0%", "5%", "25%", "50%", "100%"))
    panel.set_yticks((0, 0.5, 1), labels=("0%", "50%", "100%"))
    panel.tick_params(labelsize=8, color="#999")
    panel.spines[:].set_color("#999")
    panel.axvline(MOST_ALARMS, color="#bbb", linestyle="--", linewidth=1)


def _draw_line(panel: Axes, knob: Rule, points: Sequence[Score], excess: float) -> None:
    """What a tool's thresholds give."""
    shares = dict.fromkeys((score.alarms.value, score.detected[excess].value) for score in points)
    color = COLORS[knob.tool]
    panel.plot(*zip(*shares, strict=True), color=color, linewidth=1.5, alpha=0.8, label=knob.label, clip_on=False)


def _draw_point(panel: Axes, rule: Rule, alarms: Share, detected: Share) -> None:
    """What xebench states, with the interval of each share."""
    panel.errorbar(
        alarms.value,
        detected.value,
        _reach(detected),
        _reach(alarms),
        color=COLORS[rule.tool],
        marker="o",
        label=rule.label,
        clip_on=False,
    )


def _reach(share: Share) -> list[list[float]]:
    """From a share down and up to the ends of its interval, as matplotlib takes it."""
    low, high = share.interval
    return [[max(0.0, share.value - low)], [max(0.0, high - share.value)]]
