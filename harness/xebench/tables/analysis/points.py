"""Frames to rows, and the point at which a case was measured: all parameters of its problem.

Rows are plain dictionaries by column name. `xebench.tables` makes typed frames of them: nothing here knows how
tables are stored.

Tables keep them as a JSON object, so that a table has the same columns whatever was measured; users get a typed column
for each parameter, and reports an order in which 7 comes before 17.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

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


#: How the columns of parameters begin: a name of its own for each, whatever a pattern calls it.
PREFIX: Final = "param_"

Value = int | float | str


def to_json(values: Mapping[str, Value]) -> str:
    """Parameters as a table keeps them."""
    return json.dumps(dict(values), sort_keys=True)


def parse(text: Any) -> dict[str, Value]:
    """The parameters by name of a JSON object in a table; none of a null."""
    return {} if pd.isna(text) else json.loads(text)


def point(row: Mapping[Any, Any]) -> dict[str, Value]:
    """The parameters that differ from the preset or are swept: they distinguish families of one pattern and preset.

    Args:
        row: of `cases` or `pairs`.
    """
    return distinct(parse(row["parameters"]), parse(row["preset_parameters"]))


def distinct(parameters: Mapping[str, Value], preset: Mapping[str, Value | None]) -> dict[str, Value]:
    """Those of some parameters that the preset does not give, or gives another value."""
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


def with_columns(data: pd.DataFrame) -> pd.DataFrame:
    """A table with ``parameters``, and a column for each name in them besides: ``param_n``, ``param_stride``.

    Integers are Int64, numbers of both kinds Float64, everything else text; null where a row has no such name.
    """
    return pd.concat([data, _columns(data["parameters"])], axis="columns")


def with_columns_of(samples: pd.DataFrame, cases: pd.DataFrame) -> pd.DataFrame:
    """The table `samples` with the columns that `with_columns` has given to `cases`."""
    names = [name for name in map(str, cases) if name.startswith(PREFIX)]
    columns = cases[names].set_axis(cases["case_id"]).reindex(samples["case_id"])
    return pd.concat([samples, columns.set_axis(samples.index)], axis="columns")


def _columns(texts: pd.Series[str]) -> pd.DataFrame:
    numbers, different = pd.factorize(texts)
    points = [parse(text) for text in different]
    names = sorted({name for point in points for name in point})
    columns = {PREFIX + name: _series([point.get(name) for point in points]).reindex(numbers) for name in names}
    return pd.DataFrame({name: values.array for name, values in columns.items()}, index=texts.index)


def _series(values: Sequence[Value | None]) -> pd.Series[Any]:
    dtype = _dtype(values)
    if dtype == "string":
        values = [None if value is None else str(value) for value in values]
    return pd.Series(values, dtype=dtype)


def _dtype(values: Sequence[Value | None]) -> Literal["Int64", "Float64", "string"]:
    present = [value for value in values if value is not None]
    if all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in present):
        return "Int64"
    if all(isinstance(value, int | float) for value in present):
        return "Float64"
    return "string"
