"""Parameters as typed columns, as words, and in the order of numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from synthetic import Synthetic

from xebench.records import points
from xebench.results import schema


def table(*texts: Any) -> pd.DataFrame:
    return pd.DataFrame({"parameters": pd.Series(texts, dtype="string")})


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
    column = schema.with_parameters(table(*texts))["param_x"]
    assert column.dtype == dtype
    assert [None if pd.isna(value) else value for value in column] == values


def test_tables_without_parameters_get_no_columns() -> None:
    for frame in (table(), table("{}"), table(None)):
        assert list(schema.with_parameters(frame)) == ["parameters"]


def test_cases_have_a_column_for_each_parameter_and_other_tables_join_it() -> None:
    made = Synthetic()
    for variant, role in (("a", "naive"), ("b", "optimized")):
        for n in (64, 384):
            parameters = f'{{"n": {n}, "work_group_size": 32}}'
            made.times(made.case(variant, role, parameters=parameters), [100.0] * 8)
    run = made.run()
    for frame in (run.samples, run.summaries, run.pairs):
        assert not any(name.startswith("param_") for name in map(str, frame))
        joined = frame.merge(run.cases.filter(regex="^case_id$|^param_"))
        assert len(joined) == len(frame)
        assert joined["param_n"].dtype == joined["param_work_group_size"].dtype == "Int64"
        assert set(joined["param_n"]) == {64, 384} and set(joined["param_work_group_size"]) == {32}


def test_what_tells_a_family_from_others_is_swept_or_not_the_presets_own() -> None:
    row = {"parameters": '{"n": 64, "m": 2, "stride": 4}', "preset_parameters": '{"n": 384, "m": 2}'}
    assert points.point(row) == {"n": 64, "stride": 4}
    assert points.swept(row) == {"stride": 4}


def test_numbers_are_sorted_as_numbers_and_before_words() -> None:
    texts = ['{"x": 17}', '{"x": "auto"}', '{"x": 7}', '{"x": 31}', '{"x": 7.5}']
    assert [points.words(points.parse(text)) for text in sorted(texts, key=points.order)] == [
        "x=7",
        "x=7.5",
        "x=17",
        "x=31",
        "x=auto",
    ]


def test_words_name_every_value_in_the_order_of_names() -> None:
    assert points.words({"b": 2, "a": "x"}) == "a=x, b=2"
    assert points.words({}) == ""
