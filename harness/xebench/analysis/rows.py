"""Frames to rows: the form in which this package reads cases and hands back what it found.

Rows are plain dictionaries by column name. `xebench.tables` makes typed frames of them: nothing here knows how
tables are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

Row = dict[str, Any]

#: Columns of `cases` that the variants of a family have in common: a CPU row is never compared with a GPU row.
FAMILY_KEY: Final = ("pattern", "preset", "axes", "sizes", "device_class", "host", "device")

#: What tells one device from another: its host, None where there is only one, and its filter string.
Place = tuple[str | None, str]


def rows(data: pd.DataFrame) -> list[Row]:
    """The rows of a frame as plain dictionaries, with None for null."""
    plain = data.astype(object).where(data.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def place(row: Mapping[str, Any]) -> Place:
    """The device of a row of `devices`, `cases`, `summaries` or `pairs`."""
    return row["host"], row["device"]


def by_place(devices: pd.DataFrame) -> dict[Place, Row]:
    """The rows of the table `devices`."""
    return {place(row): row for row in rows(devices)}
