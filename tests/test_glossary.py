"""docs/glossary.md explains words with the values that the code has."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from xebench.cli.main import commands
from xebench.records.claim import WORDS
from xebench.records.device_facts import Roof
from xebench.results import TABLES
from xebench.vocabulary import Answer, Metric, Outcome, Role, State, Status

PAGE = Path(__file__).parents[1] / "docs" / "glossary.md"
ROWS = re.findall(r"^\| \*\*(\w+)\*\* \| (.+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
MEANINGS = {word: set(re.findall(r"`(.+?)`", meaning)) for word, meaning, _ in ROWS}
PLACES = [place for *_, places in ROWS for place in re.findall(r"`(.+?)`", places)]


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("variant", Role),
        ("status", Status),
        ("state", State),
        ("metric", Metric),
        ("roof", Roof),
        ("claim", WORDS),
        ("pair", Outcome),
        ("answer", Answer),
    ],
)
def test_a_word_has_the_values_that_the_code_has(word: str, values: type[StrEnum] | tuple[Outcome, ...]) -> None:
    assert MEANINGS[word] == {str(value) for value in values}


def test_the_columns_and_options_that_it_names_exist() -> None:
    options = set(re.findall(r"--[a-z-]+", CliRunner().invoke(commands, ["run", "--help"]).output))
    names = {f"xebench {name}" for name in commands.list_commands(click.Context(commands))}
    columns = {f"{table}.{column}" for table, declared in TABLES.items() for column in declared}
    assert len(PLACES) > len(ROWS)
    assert set(PLACES) <= options | names | columns
