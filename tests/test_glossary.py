"""docs/glossary.md has the words of the code: those of its enumerations, its columns and its options."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from xebench.cli.main import commands
from xebench.results import TABLES
from xebench.results.analysis.claim import WORDS
from xebench.results.device_facts import Roof
from xebench.vocabulary import Answer, CheckResult, Metric, Outcome, Role, State, Status, Strength

PAGE = Path(__file__).parents[1] / "docs" / "glossary.md"
ROWS = re.findall(r"^\| \*\*(\w+)\*\* \| (.+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
MEANINGS = {word: set(re.findall(r"`(.+?)`", meaning)) for word, meaning, _ in ROWS}
PLACES = [place for *_, places in ROWS for place in re.findall(r"`(.+?)`", places)]


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("role", Role),
        ("status", Status),
        ("state", State),
        ("metric", Metric),
        ("check", CheckResult),
        ("roof", Roof),
        ("claim", WORDS),
        ("strength", Strength),
        ("outcome", Outcome),
        ("answer", Answer),
    ],
)
def test_a_word_has_the_values_that_the_code_has(word: str, values: type[StrEnum] | tuple[Outcome, ...]) -> None:
    assert MEANINGS[word] == {str(value) for value in values}


def test_the_columns_and_options_that_it_names_exist() -> None:
    options = set(re.findall(r"--[a-z-]+", CliRunner().invoke(commands, ["run", "--help"]).output))
    names = {f"xebench {name}" for name in commands.list_commands(click.Context(commands))}
    columns = {f"{table}.{column}" for table, declared in TABLES.items() for column in declared}
    assert len(ROWS) > 20 and len(PLACES) > len(ROWS)
    assert set(PLACES) <= options | names | columns
