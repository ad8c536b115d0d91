"""Every command that prints a table prints it as Markdown, JSON and CSV too, by one function."""

from __future__ import annotations

import csv
import io
import json
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import click
import pytest
from click.testing import CliRunner

from xebench.cli import machine_views
from xebench.cli.main import commands
from xebench.isa import gpu_views
from xebench.isa import text as isa_text
from xebench.report import View, claims_text, table_forms

VIEWS: dict[str, ModuleType | View] = {
    "isa": isa_text,
    "patterns": claims_text,
    **{name: view for name, view in (vars(gpu_views) | vars(machine_views)).items() if isinstance(view, View)},
}
ROWS = [
    {"name": "a|b", "role": "naive", "part": 0.123456, "axes": {"n": 3}, "none": None, "list": [1, "x"], "flag": True},
    {
        "name": "c",
        "role": "",
        "part": 2.0,
        "axes": {},
        "none": None,
        "list": [],
        "further": [{"name": "v", "role": "r"}],
    },
]


def view(told: Any, **more: Any) -> ModuleType:
    """A view of this JSON."""
    made = SimpleNamespace(as_text=lambda: "text", as_json=lambda: json.dumps(told), **more)
    return cast(ModuleType, made)


def test_text_and_json_are_the_views_own() -> None:
    assert table_forms.render(view(ROWS), "text") == "text"
    assert json.loads(table_forms.render(view(ROWS), "json")) == ROWS


def test_csv_has_every_column_of_every_row() -> None:
    first, second = csv.DictReader(io.StringIO(table_forms.render(view({"entry": ROWS}, ROWS="entry"), "csv")))
    assert first == {
        "name": "a|b",
        "role": "naive",
        "part": "0.123456",
        "axes": '{"n": 3}',
        "none": "",
        "list": '[1, "x"]',
        "flag": "True",
        "further": "",
    }
    assert json.loads(second["further"]) == [{"name": "v", "role": "r"}]


def test_csv_has_no_formula() -> None:
    assert table_forms.render(view([{"name": "=1+1", "part": -0.5}]), "csv") == "name,part\n'=1+1,-0.5"


def test_markdown_leaves_out_what_is_empty_and_shows_few_digits() -> None:
    assert table_forms.render(view(ROWS), "markdown").splitlines() == [
        "| name | role | part | axes | list | flag | further |",
        "|---|---|---|---|---|---|---|",
        "| a\\|b | naive | 0.1235 | n=3 | 1, x | yes |  |",
        "| c |  | 2 |  |  |  | v (r) |",
    ]


def test_markdown_has_the_columns_that_the_view_names() -> None:
    text = table_forms.render(view([*ROWS, ROWS[0]], SHOWN=("role", "none", "name")), "markdown")
    assert text.splitlines()[0] == "| role | name |"
    assert len(text.splitlines()) == 4, "a row that looks like one before stands once"


def test_one_object_is_one_row_and_nothing_is_said_to_be_nothing() -> None:
    assert table_forms.render(view({"a": 1}), "markdown").splitlines()[-1] == "| 1 |"
    assert table_forms.render(view([]), "markdown") == "nothing to show"
    assert table_forms.render(view([]), "csv") == ""


@pytest.mark.parametrize("name", VIEWS)
def test_the_columns_that_a_view_names_are_text(name: str) -> None:
    one = VIEWS[name]
    assert isinstance(getattr(one, "ROWS", ""), str) and callable(one.as_text) and callable(one.as_json)
    assert all(isinstance(column, str) for column in getattr(one, "SHOWN", ()))


TABLES = (
    "compare",
    "devices",
    "doctor",
    "isa",
    "list",
    "occupancy",
    "report",
    "roofline",
    "run",
    "show",
)


@pytest.mark.parametrize("name", TABLES)
def test_every_command_that_prints_a_table_takes_a_format(name: str) -> None:
    with click.Context(commands) as context:
        command = commands.get_command(context, name)
        assert command is not None
        (option,) = [each for each in command.params if "--format" in each.opts]
    assert isinstance(option.type, click.Choice) and {"text", "markdown", "json", "csv"} <= {*option.type.choices}


@pytest.mark.parametrize(
    ("form", "begin"), [("markdown", "| name | chapter |"), ("csv", "name,chapter,"), ("json", "[")]
)
def test_the_list_of_patterns_in_each_form(form: str, begin: str) -> None:
    done = CliRunner().invoke(commands, ["list", "slm_bank_conflicts", "--format", form])
    assert done.exit_code == 0 and done.output.startswith(begin) and "slm_bank_conflicts" in done.output


def test_json_has_a_short_form() -> None:
    told = [
        CliRunner().invoke(commands, ["list", "slm*", *words]).output for words in (["--json"], ["--format", "json"])
    ]
    assert told[0] == told[1]
