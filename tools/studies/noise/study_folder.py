"""The study's folder: its data, its description, and the summary of both."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES
from tools.studies.noise.tallies import (
    BEST_OF,
    KNOBS,
    MOST_ALARMS,
    OURS,
    OURS_FINE,
    PRECISIONS,
    PYPERF,
    PYTEST,
    XEBENCH,
    XEBENCH_FINE,
    Hindsight,
    Rule,
    Score,
    Share,
    coverage,
    curve,
    goals,
    hindsight,
    part,
    percent,
    scores,
    seconds,
)
from xebench.errors import BrokenEnvironment, RunFolderError
from xebench.report.table_forms import fill, table
from xebench.results.files import write_csv, write_json, write_parquet, write_text

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
#: What is drawn: one statistic where a tool has several.
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
    """Draw the results of a tool's thresholds as a line."""
    shares = dict.fromkeys((score.alarms.value, score.detected[excess].value) for score in points)
    color = COLORS[knob.tool]
    panel.plot(*zip(*shares, strict=True), color=color, linewidth=1.5, alpha=0.8, label=knob.label, clip_on=False)


def _draw_point(panel: Axes, rule: Rule, alarms: Share, detected: Share) -> None:
    """Draw xebench's own statement as a point, with the interval of each share."""
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


#: Excesses of the pairs that are no A/A pairs.
DIFFERENCES: Final = tuple(excess for excess in EXCESSES if excess)
#: Headings of the columns.
HEADINGS: Final = tuple(f"{excess:.0%}" for excess in DIFFERENCES)


def as_markdown(rows: pd.DataFrame, pieces: Sequence[Mapping[str, Any]]) -> str:
    """The summary.

    Args:
        rows: The study's table.
        pieces: What each piece of the study wrote of itself (`tools.studies.noise.study_folder`).
    """
    return fill(
        "tools.studies.noise",
        "summary.md.j2",
        pieces=pieces,
        goals=table(
            ("goal", "reached", "found"),
            ((goal.text, "yes" if goal.reached else "**no**", goal.result) for goal in goals(rows)),
        ),
        pairs=int((rows["tool"] == XEBENCH).sum()),
        conditions=[_condition(rows, condition) for condition in CONDITIONS if (rows["condition"] == condition).any()],
    )


def _condition(rows: pd.DataFrame, condition: str) -> Mapping[str, Any]:
    return {
        "name": condition,
        "scores": table(("tool and rule", "false alarms", *HEADINGS, "wrong", "seconds"), _score_rows(rows, condition)),
        "hindsight": table(
            ("tool and statistic", "threshold", "false alarms", *HEADINGS, "wrong"),
            map(_hindsight_row, hindsight(rows, condition)),
        ),
        "coverage": table(("interval", "A/A", *HEADINGS, "all"), _coverage_rows(rows, condition)),
        "arms": [
            (arm, _counts(own["outcome"]), _counts(own["stopped_by"]))
            for arm in PRECISIONS
            for own in [part(rows, arm, condition)]
        ],
    }


def _score_rows(rows: pd.DataFrame, condition: str) -> Iterator[tuple[str, ...]]:
    spent = seconds(rows)
    for rule, score in scores(rows, condition).items():
        yield rule.label, *_columns(score), f"{spent[condition, rule.tool]:.2f}"


def _hindsight_row(best: Hindsight) -> tuple[str, ...]:
    if best.score is None:
        return best.knob.label, "none", *["-"] * (2 + len(DIFFERENCES))
    return best.knob.label, f"{best.percent:.2f} %", *_columns(best.score)


def _coverage_rows(rows: pd.DataFrame, condition: str) -> Iterator[tuple[str, ...]]:
    remarks = {**dict.fromkeys(PRECISIONS, ""), PYPERF: ": implied by its t-test, not stated"}
    for tool, remark in remarks.items():
        yield tool + remark, *map(percent, coverage(rows, tool, condition).values())


def _columns(score: Score) -> list[str]:
    return [percent(score.alarms), *(percent(score.detected[excess]) for excess in DIFFERENCES), percent(score.wrong)]


def _counts(values: pd.Series[str]) -> str:
    return ", ".join(f"{count} {value}" for value, count in values.value_counts().items())


DATA: Final = "decisions"
FACTS: Final = "study.json"
PIECES: Final = "pieces"
FIGURE: Final = "noise.svg"
SUMMARY: Final = "summary.md"


@dataclass(frozen=True)
class Measured:
    """The data that a study has measured.

    Attributes:
        rows: The study's table.
        pieces: What each piece of it wrote of itself, in the order of time.
    """

    rows: pd.DataFrame
    pieces: Sequence[Mapping[str, Any]]


#: A study that begins.
NOTHING: Final = Measured(pd.DataFrame(), ())


def read_data(folder: Path) -> Measured:
    """Read a folder's data.

    Raises:
        RunFolderError: There is no data.
    """
    try:
        rows = pd.read_parquet(folder / f"{DATA}.parquet")
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunFolderError(f"{folder} holds no study: run it without --from-data and --add") from None
    return Measured(rows, facts.get(PIECES, [facts]))


def write_data(
    folder: Path, rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], before: Measured = NOTHING
) -> None:
    """Write the table, as Parquet and CSV, and the facts, after those of earlier pieces.

    Raises:
        RunFolderError: The folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be made: {error.strerror}; choose another --output") from error
    table = pd.concat([part for part in (before.rows, pd.DataFrame(rows)) if len(part)], ignore_index=True)
    write_parquet(folder / f"{DATA}.parquet", table)
    write_csv(folder / f"{DATA}.csv", table)
    write_json(folder / FACTS, {PIECES: [*before.pieces, facts]})


def write_report(folder: Path) -> str:
    """Make the figure and the summary from the folder's data. Returns the summary.

    Raises:
        RunFolderError: There is no data, or the folder cannot be written.
        BrokenEnvironment: The figure cannot be drawn; the summary is written.
    """
    measured = read_data(folder)
    text = as_markdown(measured.rows, measured.pieces)
    write_text(folder / SUMMARY, text)
    write_text(folder / FIGURE, as_svg(measured.rows))
    return text
