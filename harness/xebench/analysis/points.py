"""The point at which a case was measured: the sizes of its problem and the values of its axes.

Tables keep both as JSON objects, so that a table has the same columns whatever was measured; users get a typed column
for each size and each axis, and reports an order in which 7 comes before 17.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Literal

import pandas as pd

#: Columns with JSON objects, and how the columns for their names begin.
PREFIXES: Final = {"sizes": "size_", "axes": "axis_"}

Value = int | float | str


def parse(text: Any) -> dict[str, Value]:
    """The values by name of a JSON object in a table; none of a null."""
    return {} if pd.isna(text) else json.loads(text)


def words(text: Any) -> str:
    """``stride=16, work_group_size=32``."""
    return ", ".join(f"{name}={value}" for name, value in sorted(parse(text).items()))


def order(text: Any) -> tuple[tuple[str, bool, float, str], ...]:
    """A key for sorting: numbers by their value and before text."""
    return tuple(
        (name, isinstance(value, str), 0.0 if isinstance(value, str) else float(value), str(value))
        for name, value in sorted(parse(text).items())
    )


def with_columns(data: pd.DataFrame) -> pd.DataFrame:
    """A table that has points, with a column for each name in them: ``size_n``, ``axis_work_group_size``.

    Integers are Int64, numbers of both kinds Float64, everything else text; null where a row has no such name.
    """
    return pd.concat([data, *(_columns(data[source], prefix) for source, prefix in PREFIXES.items())], axis="columns")


def with_columns_of(samples: pd.DataFrame, cases: pd.DataFrame) -> pd.DataFrame:
    """The table `samples` with the columns that `with_columns` has given to `cases`."""
    names = [name for name in map(str, cases) if name.startswith(tuple(PREFIXES.values()))]
    columns = cases[names].set_axis(cases["case_id"]).reindex(samples["case_id"])
    return pd.concat([samples, columns.set_axis(samples.index)], axis="columns")


def _columns(texts: pd.Series[str], prefix: str) -> pd.DataFrame:
    numbers, different = pd.factorize(texts)
    points = [parse(text) for text in different]
    names = sorted({name for point in points for name in point})
    columns = {prefix + name: _series([point.get(name) for point in points]).reindex(numbers) for name in names}
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
