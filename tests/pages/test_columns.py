"""The page of the tables is made of the columns' meanings, and the notebook of five questions runs on a stored run."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tools.pages import declared
from xebench.results import TABLES

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOK = DOCS / "examples" / "five-questions.ipynb"


def test_every_table_and_column_is_in_it() -> None:
    assert {*declared.ROWS} == {*TABLES}
    page = declared.columns()
    for table, columns in TABLES.items():
        section = page.partition(f"\n## {table}\n")[2].partition("\n## ")[0]
        assert [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")] == [*columns]


def answers() -> list[tuple[list[str], Any]]:
    """The lines of each cell of code, and what its last expression is."""
    names: dict[str, Any] = {}
    found = []
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            *before, last = ast.parse("".join(cell["source"])).body
            assert isinstance(last, ast.Expr), "a cell ends with its answer"
            exec(compile(ast.Module(before, []), str(NOTEBOOK), "exec"), names)
            found.append((cell["source"], eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)))
    return found


def test_the_notebook_answers_five_questions_in_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(NOTEBOOK.parent)
    (_, run), *told = answers()
    assert run.pairs["pattern"].nunique() > 100 and "<table" in run._repr_html_()
    assert len(told) == 5
    for lines, answer in told:
        assert len(lines) <= 3 and max(map(len, lines)) <= 120
        assert isinstance(answer, pd.DataFrame) and not answer.empty
    sure, worst, swept, _, turned = (answer for _, answer in told)
    assert (sure["speedup_low"] > 2).all() and (worst["speedup"].dropna() < 1).all()
    assert 16 in swept.index and (turned["speedup_x"] > 1).all() and (turned["speedup_y"] < 1).all()


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")
