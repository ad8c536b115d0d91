"""The study's folder: its data, its description, and the summary of both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES
from tools.studies.noise.tallies import (
    PRECISIONS,
    XEBENCH,
    Score,
    coverage,
    goals,
    part,
    percent,
    scores,
    seconds,
)
from xebench.errors import RunFolderError
from xebench.report.table_forms import fill, table
from xebench.results.files import write_json, write_parquet, write_text

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


def _coverage_rows(rows: pd.DataFrame, condition: str) -> Iterator[tuple[str, ...]]:
    for arm in PRECISIONS:
        yield arm, *map(percent, coverage(rows, arm, condition).values())


def _columns(score: Score) -> list[str]:
    return [percent(score.alarms), *(percent(score.detected[excess]) for excess in DIFFERENCES), percent(score.wrong)]


def _counts(values: pd.Series[str]) -> str:
    return ", ".join(f"{count} {value}" for value, count in values.value_counts().items())


DATA: Final = "decisions"
FACTS: Final = "study.json"
PIECES: Final = "pieces"
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
    """Write the table and the facts, after those of earlier pieces.

    Raises:
        RunFolderError: The folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be made: {error.strerror}; choose another --output") from error
    table = pd.concat([part for part in (before.rows, pd.DataFrame(rows)) if len(part)], ignore_index=True)
    write_parquet(folder / f"{DATA}.parquet", table)
    write_json(folder / FACTS, {PIECES: [*before.pieces, facts]})


def write_report(folder: Path) -> str:
    """Make the summary from the folder's data, and return it.

    Raises:
        RunFolderError: There is no data, or the folder cannot be written.
    """
    measured = read_data(folder)
    text = as_markdown(measured.rows, measured.pieces)
    write_text(folder / SUMMARY, text)
    return text
