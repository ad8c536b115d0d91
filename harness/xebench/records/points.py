"""Frames to rows, and the point at which a case was measured: all parameters of its problem.

Rows are plain dictionaries by column name. `xebench.results` makes typed frames of them: nothing here knows how
tables are stored.

Tables keep them as a JSON object, so that a table has the same columns whatever was measured; users get a typed column
for each parameter, and reports an order in which 7 comes before 17.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # workers read points, and need no frames
    import pandas as pd

Row = dict[str, Any]

#: Identity of a device: its host, None if there is only one, and its filter string.
DeviceKey = tuple[str | None, str]


def rows(data: pd.DataFrame) -> list[Row]:
    """The rows of a frame as plain dictionaries, with None for null."""
    names = [str(name) for name in data]
    columns = (plain(values) for _, values in data.items())
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def plain(column: pd.Series[Any]) -> list[Any]:
    """The values of a column as Python's, with None for null; three times as fast as by pandas' ``where``."""
    values = column.to_numpy(object, copy=True)
    values[column.isna().to_numpy()] = None
    return list(values)


def device_key(row: Mapping[str, Any]) -> DeviceKey:
    """The device of a row of `devices`, `cases`, `summaries` or `pairs`."""
    return row["host"], row["device"]


def by_device(devices: pd.DataFrame) -> dict[DeviceKey, Row]:
    """The rows of the table `devices`."""
    return {device_key(row): row for row in rows(devices)}


def measured_at(key: str, where: DeviceKey) -> str:
    """A ``case_id`` or ``family_id`` of a run over several hosts, with the device that measured it."""
    return f"{key}@{where[0]}/{where[1]}"


def problem_id(case: Mapping[str, Any]) -> str:
    """The ``case_id`` of a case without host and device: the same wherever it is measured."""
    return str(case["case_id"]).removesuffix(measured_at("", device_key(case)))


#: Prefix of the columns of parameters, so that no parameter's name equals another column's.
PREFIX: Final = "param_"

Value = int | float | str


def to_json(values: Mapping[str, Value]) -> str:
    """Parameters as a table keeps them."""
    return json.dumps(dict(values), sort_keys=True)


def parse(text: Any) -> dict[str, Value]:
    """The parameters by name of a JSON object in a table; none of a null."""
    return json.loads(text) if isinstance(text, str) else {}


def point(row: Mapping[Any, Any]) -> dict[str, Value]:
    """The parameters that differ from the preset or are swept: they distinguish families of one pattern and preset.

    Args:
        row: row of table `cases` or `pairs`.
    """
    return distinct(parse(row["parameters"]), parse(row["preset_parameters"]))


def distinct(parameters: Mapping[str, Value], preset: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters that the preset does not have, or has with another value."""
    return {name: value for name, value in sorted(parameters.items()) if name not in preset or preset[name] != value}


def swept(row: Mapping[Any, Any]) -> dict[str, Value]:
    """The parameters of a row that are values of axes."""
    preset = parse(row["preset_parameters"])
    return {name: value for name, value in parse(row["parameters"]).items() if name not in preset}


def words(values: Mapping[str, Value]) -> str:
    """``stride=16, work_group_size=32``."""
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items()))


def order(text: Any) -> tuple[tuple[str, bool, float, str], ...]:
    """A key for sorting: numbers by their value and before text."""
    return tuple(
        (name, isinstance(value, str), 0.0 if isinstance(value, str) else float(value), str(value))
        for name, value in sorted(parse(text).items())
    )
