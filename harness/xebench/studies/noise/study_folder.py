"""The study's folder: its data, what it says of itself, and what is made of both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from xebench.errors import RunFolderError
from xebench.studies.noise.figure import as_svg
from xebench.studies.noise.summary import as_markdown
from xebench.tables.files import write_csv, write_json, write_parquet, write_text

DATA: Final = "decisions"
FACTS: Final = "study.json"
FIGURE: Final = "noise.svg"
SUMMARY: Final = "summary.md"


def write_data(folder: Path, rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
    """Write the table, as Parquet and CSV, and the facts.

    Raises:
        RunFolderError: The folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be made: {error.strerror}; choose another --output") from error
    table = pd.DataFrame(rows)
    write_parquet(folder / f"{DATA}.parquet", table)
    write_csv(folder / f"{DATA}.csv", table)
    write_json(folder / FACTS, facts)


def write_report(folder: Path) -> str:
    """Make the figure and the summary from the folder's data. Returns the summary.

    Raises:
        RunFolderError: There is no data, or the folder cannot be written.
        BrokenEnvironment: The figure cannot be drawn; the summary is written.
    """
    try:
        rows = pd.read_parquet(folder / f"{DATA}.parquet")
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunFolderError(f"{folder} holds no study: run it without --from-data") from None
    text = as_markdown(rows, facts)
    write_text(folder / SUMMARY, text)
    write_text(folder / FIGURE, as_svg(rows))
    return text
