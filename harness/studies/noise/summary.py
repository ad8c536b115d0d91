"""The study in Markdown: goals, tables, and what they rest on. Everything is computed from the study's data."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

import jinja2
import pandas as pd

from harness.studies.noise.goals import goals, percent
from harness.studies.noise.known_pairs import CONDITIONS, EXCESSES
from harness.studies.noise.rules import PRECISIONS, PYPERF, TOOLS
from harness.studies.noise.tallies import Score, coverage, hindsight, part, scores, seconds

#: Excesses of the pairs that are no A/A pairs.
DIFFERENCES = tuple(excess for excess in EXCESSES if excess)


def as_markdown(rows: pd.DataFrame, facts: Mapping[str, Any]) -> str:
    """The summary.

    Args:
        rows: The study's table.
        facts: What the study wrote of itself (`harness.studies.noise.study_folder`).
    """
    text = resources.files(__package__).joinpath("summary.md.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=False, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text).render(
        facts=facts,
        goals=goals(rows),
        repetitions=rows["repetition"].nunique(),
        pairs=len(rows) // len(TOOLS),
        differences=[f"{excess:.0%}" for excess in DIFFERENCES],
        conditions=[_condition(rows, condition) for condition in CONDITIONS],
    )


def _condition(rows: pd.DataFrame, condition: str) -> Mapping[str, Any]:
    spent = seconds(rows)
    return {
        "name": condition,
        "scores": [
            (rule.label, *_columns(score), f"{spent[condition, rule.tool]:.2f}")
            for rule, score in scores(rows, condition).items()
        ],
        "hindsight": [
            (f"{best.knob.tool}, {best.knob.name}", f"{best.percent:.2f} %", *_columns(best.score))
            if best.score is not None and best.percent is not None
            else (f"{best.knob.tool}, {best.knob.name}", "none", *["-"] * (2 + len(DIFFERENCES)))
            for best in hindsight(rows, condition)
        ],
        "coverage": [
            (tool + label, *(percent(share) for share in coverage(rows, tool, condition).values()))
            for tool, label in {**dict.fromkeys(PRECISIONS, ""), PYPERF: ": implied by its t-test, not stated"}.items()
        ],
        "arms": [
            (arm, _counts(own["outcome"]), _counts(own["stopped_by"]))
            for arm in PRECISIONS
            for own in [part(rows, arm, condition)]
        ],
    }


def _columns(score: Score) -> list[str]:
    return [percent(score.alarms), *(percent(score.found[excess]) for excess in DIFFERENCES), percent(score.wrong)]


def _counts(values: pd.Series[str]) -> str:
    return ", ".join(f"{count} {value}" for value, count in values.value_counts().items())
