"""Sizes and axes as typed columns, as words, and in the order of numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from synthetic import Synthetic

from xebench.analysis import points


def table(*texts: Any, name: str = "axes") -> pd.DataFrame:
    frame = {"sizes": pd.Series(["{}"] * len(texts), dtype="string"), "axes": pd.Series(["{}"] * len(texts))}
    return pd.DataFrame({**frame, name: pd.Series(texts, dtype="string")})


@pytest.mark.parametrize(
    ("texts", "dtype", "values"),
    [
        (['{"x": 2}', '{"x": 17}', '{"x": 2}'], "Int64", [2, 17, 2]),
        (['{"x": 2}', '{"x": 0.5}'], "Float64", [2.0, 0.5]),
        (['{"x": 2}', '{"x": "auto"}'], "string", ["2", "auto"]),
        (['{"x": 2}', "{}"], "Int64", [2, None]),
        (['{"x": 2}', None], "Int64", [2, None]),
        (['{"x": 99999999999999999999}'], "Float64", [1e20]),
    ],
)
def test_a_column_has_the_type_of_its_values(texts: list[Any], dtype: str, values: list[Any]) -> None:
    column = points.with_columns(table(*texts))["axis_x"]
    assert column.dtype == dtype
    assert [None if pd.isna(value) else value for value in column] == values


def test_sizes_and_axes_of_one_name_are_two_columns() -> None:
    frame = table('{"n": 4}', name="sizes").assign(axes='{"n": 8}')
    columns = points.with_columns(frame)
    assert (columns["size_n"][0], columns["axis_n"][0]) == (4, 8)


def test_tables_without_points_get_no_columns() -> None:
    for frame in (table(), table("{}"), table(None)):
        assert list(points.with_columns(frame)) == ["sizes", "axes"]


def test_a_run_has_a_column_for_each_size_and_each_axis_where_a_user_looks() -> None:
    made = Synthetic()
    for variant, role in (("a", "naive"), ("b", "optimized")):
        for n in (64, 384):
            axes = '{"work_group_size": 32}'
            made.times(made.case(variant, role, sizes=f'{{"n": {n}}}', axes=axes), [100.0] * 8)
    run = made.run()
    for frame in (run.cases, run.samples, run.summaries, run.pairs):
        assert frame["size_n"].dtype == frame["axis_work_group_size"].dtype == "Int64"
        assert set(frame["size_n"]) == {64, 384} and set(frame["axis_work_group_size"]) == {32}
    by_case = run.cases.set_index("case_id")["size_n"]
    assert (run.samples["size_n"].to_numpy() == by_case[run.samples["case_id"]].to_numpy()).all()


def test_numbers_are_sorted_as_numbers_and_before_words() -> None:
    texts = ['{"x": 17}', '{"x": "auto"}', '{"x": 7}', '{"x": 31}', '{"x": 7.5}']
    assert [points.words(text) for text in sorted(texts, key=points.order)] == [
        "x=7",
        "x=7.5",
        "x=17",
        "x=31",
        "x=auto",
    ]


def test_words_name_every_value_in_the_order_of_names() -> None:
    assert points.words('{"b": 2, "a": "x"}') == "a=x, b=2"
    assert points.words(None) == points.words("{}") == ""
