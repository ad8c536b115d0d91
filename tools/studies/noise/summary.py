"""The study in Markdown: goals, tables, and what they rest on. Everything is computed from the study's data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from tools.studies.noise.goals import goals, percent
from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES
from tools.studies.noise.rules import PRECISIONS, PYPERF, XEBENCH
from tools.studies.noise.tallies import Hindsight, Score, coverage, hindsight, part, scores, seconds
from xebench.report.table_forms import table
from xebench.report.templates import fill

#: Excesses of the pairs that are no A/A pairs.
DIFFERENCES: Final = tuple(excess for excess in EXCESSES if excess)
#: Of their columns.
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
