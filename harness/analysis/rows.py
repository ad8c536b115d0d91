"""Frames to rows: the form in which this package reads cases and hands back what it found.

Rows are plain dictionaries by column name. `harness.records` makes typed frames of them: nothing here knows how
tables are stored.
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

Row = dict[str, Any]

#: Columns of `cases` that the variants of a family have in common: a CPU row is never compared with a GPU row.
FAMILY_KEY: Final = ("pattern", "preset", "axes", "sizes", "device_class", "device")


def rows(data: pd.DataFrame) -> list[Row]:
    """The rows of a frame as plain dictionaries, with None for null."""
    plain = data.astype(object).where(data.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]
