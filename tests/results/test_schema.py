"""Typed frames, and rows that do not fit."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows_kit import device, row

from xebench.results import TABLES, SchemaError, frame, schema


@pytest.mark.parametrize("table", TABLES)
def test_an_empty_frame_has_every_column_with_its_dtype(table: str) -> None:
    made = frame(table, [])
    assert list(made.columns) == list(TABLES[table])
    assert {name: str(dtype) for name, dtype in made.dtypes.items()} == {
        name: column.dtype for name, column in TABLES[table].items()
    }


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_explained_and_units_are_in_names(table: str) -> None:
    endings = {"ns": "_ns", "bytes": "_bytes", "GB/s": "_gbps", "MHz": "_mhz", "GFLOP/s": "_gflops", "Gop/s": "_gops"}
    for column in TABLES[table].values():
        assert column.meaning.endswith((".", "null if nothing."))
        if column.unit in endings and column.name != "bytes_moved":
            assert f"_{column.name}".endswith(endings[column.unit])
        for unit, ending in endings.items():
            assert column.unit == unit or not column.name.endswith(ending)


def test_a_missing_column_is_named() -> None:
    short = device()
    del short["device_class"]
    with pytest.raises(SchemaError, match="row 1 of table devices lacks the column device_class"):
        frame("devices", [device(), short])


def test_what_may_be_null_may_be_left_out() -> None:
    short = device()
    del short["vendor"]
    assert frame("devices", [device(vendor="Intel"), short])["vendor"].isna().tolist() == [False, True]
    assert schema.measured_row("devices", short)["vendor"] is None


@pytest.mark.parametrize("table", TABLES)
def test_no_column_is_hidden_by_what_pandas_has_of_that_name(table: str) -> None:
    assert not set(TABLES[table]) & set(dir(pd.DataFrame)), "run.samples.sample would be a method"


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(SchemaError, match="row 0 of table devices has the unknown column colour"):
        frame("devices", [{**device(), "colour": "blue"}])


def test_an_unknown_table_is_named() -> None:
    with pytest.raises(SchemaError, match="no table 'device'"):
        frame("device", [])


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("name", 5),
        ("compute_units", 1.5),
        ("compute_units", "8"),
        ("compute_units", 2**63),
        ("timer_resolution_ns", "1"),
        ("timer_resolution_ns", math.inf),
        ("timer_resolution_ns", [1.0]),
    ],
)
def test_a_value_of_another_type_is_named(column: str, value: object) -> None:
    with pytest.raises(SchemaError, match=rf"devices\.{column} in row 0 must be"):
        frame("devices", [device(**{column: value})])


def test_a_null_key_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"devices\.device in row 0 must not be null"):
        frame("devices", [row("devices", device_class="cpu")])


def test_null_is_null_in_every_form() -> None:
    rows = [device(bandwidth_roof_gbps=value, compute_units=value) for value in (None, math.nan, pd.NA)]
    made = frame("devices", rows)
    assert made["bandwidth_roof_gbps"].isna().all()
    assert made["compute_units"].isna().all()


def test_numpy_scalars_become_plain_values() -> None:
    plain = schema.measured_row("devices", device(compute_units=np.int32(4), timer_resolution_ns=np.float32(2)))
    assert type(plain["compute_units"]) is int
    assert type(plain["timer_resolution_ns"]) is float
    flag = schema.measured_row(
        "samples",
        row("samples", case_id="c", sample_id=np.int64(1), state="hot", valid=np.bool_(True), sample_flags=""),
    )
    assert flag["valid"] is True


def test_text_that_is_no_unicode_is_kept_readable() -> None:
    assert frame("devices", [device(name="caf\udce9 \u00e9")])["name"][0] == "caf\\udce9 \u00e9"


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=20))
def test_integers_keep_every_digit(values: list[int | None]) -> None:
    made = frame("devices", [device(max_alloc_bytes=value) for value in values])["max_alloc_bytes"]
    assert [None if value is pd.NA else value for value in made.tolist()] == values


def test_typed_orders_columns_and_restores_dtypes() -> None:
    plain = pd.DataFrame([device()])[[*TABLES["devices"]][::-1]]
    assert schema.typed("devices", plain).equals(frame("devices", [device()]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.drop(columns="device_class"), "lacks the column device_class"),
        (lambda data: data.assign(compute_units="many"), r"devices\.compute_units holds .*, not Int64"),
        (lambda data: data.assign(device=[None]), r"devices\.device is null in row 0"),
    ],
)
def test_typed_names_what_is_wrong(change, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        schema.typed("devices", change(frame("devices", [device()])))


def test_samples_that_are_older_than_a_metric_have_no_time_by_it() -> None:
    older = frame("samples", []).drop(columns="span_ns").reindex([0, 1])
    older = older.fillna(
        {
            "case_id": "c",
            "sample_id": 1,
            "state": "hot",
            "valid": True,
            "checked": True,
            "sample_flags": "",
            "device_ns": 5,
        }
    )
    newer = schema.typed("samples", older)
    assert newer["span_ns"].isna().all() and (newer["device_ns"] == 5).all()
    assert list(newer) == list(TABLES["samples"])
