"""The columns of every table in one place, and the only function that makes frames of rows.

A run folder holds the tables of `RUN_TABLES`; `xebench.results.analysis.compare` makes `comparisons` and
`pair_comparisons` of two runs. A frame made here has the columns, the order and the dtypes that
`xebench.results.columns` and `xebench.results.computed_columns` declare. Columns that came later are null in
earlier runs.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import pandas as pd

from xebench.errors import XebenchError
from xebench.records.points import PREFIX, Value, device_key, parse, problem_id
from xebench.results.columns import CASES, CHECKS, DEVICES, EVENTS, MACHINE, SAMPLES, Column
from xebench.results.computed_columns import COMPARISONS, PAIR_COMPARISONS, PAIRS, SUMMARIES
from xebench.vocabulary import StopReason

#: The version of the tables.
SCHEMA_VERSION: Final = 6
#: Tables whose rows are measured and journalled.
MEASURED: Final = ("devices", "cases", "samples", "events", "machine", "checks")

#: Tables that analysis computes from the measured ones.
DERIVED: Final = ("summaries", "pairs")

RUN_TABLES: Final = (*MEASURED, *DERIVED)


#: Tables whose rows may be written again while a run goes on, with their key: the last row wins. In a run over
#: several hosts a case_id, which names the host, is known only when the case was measured.
REWRITABLE: Final[Mapping[str, Callable[[Mapping[str, Any]], Hashable]]] = {"devices": device_key, "cases": problem_id}

#: Columns that earlier versions wrote; they are left out when a run is read.
RETIRED: Final = {
    *("timer_quantum_ns", "clock_quantum_ns", "clock_overhead_ns", "length_r2", "length_residual"),
    *("sample_overhead_ns", "bare_overhead_ns", "mad_ns", "judged_sweep"),
    *("wall_speedup", "wall_speedup_low", "wall_speedup_high"),
}

TABLES: Final[Mapping[str, Mapping[str, Column]]] = {
    name: {column.name: column for column in columns}
    for name, columns in {
        "devices": DEVICES,
        "cases": CASES,
        "samples": SAMPLES,
        "events": EVENTS,
        "machine": MACHINE,
        "checks": CHECKS,
        "summaries": SUMMARIES,
        "pairs": PAIRS,
        "comparisons": COMPARISONS,
        "pair_comparisons": PAIR_COMPARISONS,
    }.items()
}

#: The columns of measured rows.
_MEASURED_COLUMNS: Final = {
    table: {name: column for name, column in TABLES[table].items() if not column.derived} for table in MEASURED
}

TableRow = Mapping[str, Any]


class SchemaError(XebenchError):
    """A row or a frame does not fit its table; the message names the table, the column and the row."""


def columns(table: str, *, measured: bool = False) -> Mapping[str, Column]:
    """The columns of ``table`` by name, in order.

    Args:
        table: Its name.
        measured: Leave out those that are derived from other tables.

    Raises:
        SchemaError: There is no such table.
    """
    try:
        return (_MEASURED_COLUMNS if measured else TABLES)[table]
    except KeyError:
        raise SchemaError(f"there is no table {table!r}: the tables are {', '.join(TABLES)}") from None


def frame(table: str, content: Iterable[TableRow]) -> pd.DataFrame:
    """A frame of the rows ``content`` with the columns and dtypes of ``table``; no rows give an empty typed frame.

    Raises:
        SchemaError: A row lacks a column that may not be null, has an unknown one, or a value is not of its type.
    """
    declared = columns(table)
    return _frame(declared, [_plain_row(table, declared, row, number) for number, row in enumerate(content)])


def measured_frame(table: str, measured_rows: Sequence[TableRow]) -> pd.DataFrame:
    """A frame of what `measured_row` gives, without derived columns."""
    return _frame(columns(table, measured=True), measured_rows)


def _frame(declared: Mapping[str, Column], plain: Sequence[TableRow]) -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in plain], dtype=column.dtype) for name, column in declared.items()}
    )


def typed(table: str, data: pd.DataFrame, names: Sequence[str] | None = None) -> pd.DataFrame:
    """``data`` in the order and the dtypes of ``table``, after a check of columns and nulls.

    A column that is missing and may be null is null: it was declared after the run was made.

    Args:
        table: Its name.
        data: Frame to check.
        names: Names of the wanted columns; all by default.

    Raises:
        SchemaError: A column is missing or unknown, has another type, or has nulls where none may be.
    """
    declared = columns(table)
    if names is not None:
        declared = {name: declared[name] for name in names}
    _check_names(table, declared, data.columns, "the frame")
    converted = {}
    for name, column in declared.items():
        values = data[name] if name in data else pd.Series(pd.NA, index=data.index, dtype=column.dtype)
        if column.required and values.isna().any():
            raise SchemaError(f"{table}.{name} is null in row {int(values.isna().to_numpy().argmax())}")
        try:
            converted[name] = values.astype(column.dtype)
        except (TypeError, ValueError) as error:
            raise SchemaError(f"{table}.{name} holds {values.dtype}, not {column.dtype}: {error}") from error
    return pd.DataFrame(converted)


def of_today(data: pd.DataFrame) -> pd.DataFrame:
    """The rows of a file with today's names: what is a round was a visit, and a pass."""
    data = data.rename(columns={"visit_seconds": "round_seconds"})
    if "stopped_by" in data:
        data["stopped_by"] = data["stopped_by"].replace("pass", StopReason.ROUND.value)
    return data


def measured_row(table: str, row: TableRow, number: int = 0) -> dict[str, Any]:
    """A row as it was measured, checked against ``table``, as plain Python values in column order; NaN becomes None.

    Args:
        table: Name of the table.
        row: Values by column name; every column that is neither derived nor nullable must be there.
        number: Position of the row, for the message.

    Raises:
        SchemaError: See `frame`.
    """
    return _plain_row(table, columns(table, measured=True), row, number)


def _plain_row(table: str, declared: Mapping[str, Column], row: TableRow, number: int) -> dict[str, Any]:
    if row.keys() != declared.keys():
        _check_names(table, declared, row, f"row {number}")
    return {name: _plain(table, column, row.get(name), number) for name, column in declared.items()}


def _check_names(table: str, declared: Mapping[str, Column], names: Iterable[str], where: str) -> None:
    """Refuse what lacks a required column, or has an unknown one. A null may be left out: what wrote the rows may be
    older than the column.
    """
    present = set(names)
    missing = [name for name, column in declared.items() if column.required and name not in present]
    if missing:
        raise SchemaError(f"{where} of table {table} lacks the column {', '.join(missing)}")
    unknown = sorted(present - declared.keys() - RETIRED)
    if unknown:
        raise SchemaError(f"{where} of table {table} has the unknown column {', '.join(map(str, unknown))}")


def _plain(table: str, column: Column, value: Any, number: int) -> Any:
    try:
        plain = None if value is None or value is pd.NA else _CONVERT[column.dtype](value)
    except (TypeError, ValueError, OverflowError):
        raise SchemaError(f"{table}.{column.name} in row {number} must be {column.dtype}, not {value!r}") from None
    if plain is None and column.required:
        raise SchemaError(f"{table}.{column.name} in row {number} must not be null")
    return plain


def _to_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    # output of a crashed worker may be invalid UTF-8, which Parquet refuses
    return value.encode("utf-8", "backslashreplace").decode()


def _to_integer(value: Any) -> int | None:
    # whole floats are accepted: frames of mixed origin store integers that way
    if not isinstance(value, int) and isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        if math.isnan(number):
            return None
        if not number.is_integer():
            raise ValueError
        return int(number)
    whole = operator.index(value)
    if not -(2**63) <= whole < 2**63:
        raise OverflowError
    return whole


def _to_number(value: Any) -> float | None:
    if isinstance(value, str):
        raise TypeError
    number = float(value)
    if math.isinf(number):
        raise ValueError
    return None if math.isnan(number) else number


def _to_boolean(value: Any) -> bool:
    if value not in (0, 1):
        raise ValueError
    return bool(value)


_CONVERT: Final[Mapping[str, Callable[[Any], Any]]] = {
    "string": _to_text,
    "Int64": _to_integer,
    "Float64": _to_number,
    "boolean": _to_boolean,
}


def with_parameters(data: pd.DataFrame) -> pd.DataFrame:
    """A table with ``parameters``, and a column for each name in them besides: ``param_n``, ``param_stride``.

    Integers are Int64, numbers of both kinds Float64, everything else text; null where a row has no such name.
    """
    return pd.concat([data, _columns(data["parameters"])], axis="columns")


def _columns(texts: pd.Series[str]) -> pd.DataFrame:
    places, different = pd.factorize(texts)
    found = [parse(text) for text in different]
    names = sorted({name for point in found for name in point})
    columns = {PREFIX + name: _series([point.get(name) for point in found]).reindex(places) for name in names}
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
