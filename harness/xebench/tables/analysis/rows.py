"""Frames to rows: the form in which this package reads cases and hands back what it found.

Rows are plain dictionaries by column name. `xebench.tables` makes typed frames of them: nothing here knows how
tables are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

Row = dict[str, Any]

#: What tells one device from another: its host, None where there is only one, and its filter string.
DeviceKey = tuple[str | None, str]


def rows(data: pd.DataFrame) -> list[Row]:
    """The rows of a frame as plain dictionaries, with None for null."""
    names = [str(name) for name in data]
    plain = (values.astype(object).where(values.notna(), None).tolist() for _, values in data.items())
    return [dict(zip(names, row, strict=True)) for row in zip(*plain, strict=True)]


def place(row: Mapping[str, Any]) -> DeviceKey:
    """The device of a row of `devices`, `cases`, `summaries` or `pairs`."""
    return row["host"], row["device"]


def by_place(devices: pd.DataFrame) -> dict[DeviceKey, Row]:
    """The rows of the table `devices`."""
    return {place(row): row for row in rows(devices)}


def measured_at(key: str, where: DeviceKey) -> str:
    """A ``case_id`` or ``family_id`` of a run over several hosts, with the device that measured it."""
    return f"{key}@{where[0]}/{where[1]}"


def problem_id(case: Mapping[str, Any]) -> str:
    """The ``case_id`` of a case without host and device: the same wherever it is measured."""
    return str(case["case_id"]).removesuffix(measured_at("", place(case)))
