"""The study's folder: its data, what it says of itself, and what is made of both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from tools.studies.noise.figure import as_svg
from tools.studies.noise.summary import as_markdown
from xebench.errors import RunFolderError
from xebench.tables.files import write_csv, write_json, write_parquet, write_text

DATA: Final = "decisions"
FACTS: Final = "study.json"
PIECES: Final = "pieces"
FIGURE: Final = "noise.svg"
SUMMARY: Final = "summary.md"


@dataclass(frozen=True)
class Measured:
    """What a study has measured.

    Attributes:
        rows: The study's table.
        pieces: What each piece of it wrote of itself, in the order of time.
    """

    rows: pd.DataFrame
    pieces: Sequence[Mapping[str, Any]]


#: A study that begins.
NOTHING: Final = Measured(pd.DataFrame(), ())


def read_data(folder: Path) -> Measured:
    """What a folder holds.

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
