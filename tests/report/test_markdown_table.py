"""Markdown tables survive whatever their cells hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from xebench.report.formats.human_readable import render_markdown
from xebench.report.table_forms import escape, table
from xebench.results import Run

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def cells_of(lines: list[str]) -> list[int]:
    """Cells of each row, as a reader of Markdown sees them; none where the lines are no single table."""
    tokens = MARKDOWN.parse("\n".join(lines))
    assert [token.type for token in tokens if token.level == 0] == ["table_open", "table_close"]
    rows: list[int] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append(0)
        elif token.type in ("th_open", "td_open"):
            rows[-1] += 1
        elif token.type == "inline":
            assert not [child for child in token.children or () if child.type == "html_inline"], token.content
    return rows


def test_a_table() -> None:
    assert table(("name", "n"), [("a", 1), ("b", 2)], right={1}) == [
        "| name | n |",
        "|---|--:|",
        "| a | 1 |",
        "| b | 2 |",
    ]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", r"a\|b"),
        (r"a\|b", r"a\\\|b"),
        ("two\nlines\r\n and\u2028more", "two lines and more"),
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("<!-- a comment", "&lt;!-- a comment"),
        ("<0.01 %", "<0.01 %"),
        ("**bold** `code` [link](#here)", "**bold** `code` [link](#here)"),
        (3.5, "3.5"),
    ],
)
def test_what_would_break_a_row_is_escaped(text: object, escaped: str) -> None:
    assert escape(text) == escaped


@settings(deadline=None)
@given(st.lists(st.lists(st.text(st.characters() | st.sampled_from("|\\`<>!\n\r-/ai")), min_size=3, max_size=3)))
def test_every_row_keeps_its_cells_and_no_cell_is_html(rows: list[list[str]]) -> None:
    assert cells_of(table(("a", "b", "c"), rows)) == [3] * (len(rows) + 1)


def test_a_run_with_hostile_names_is_still_a_page_of_tables(run: Run) -> None:
    hostile = "x|y\n<script>alert(1)</script>"
    for frame in (run.cases, run.pairs, run.summaries):
        frame["pattern"] = frame["pattern"].replace("convolution", hostile)
        frame["chapter"] = hostile
    run.cases.loc[3, "reason"] = f"{hostile}\n| a | row |"
    run.devices.loc[0, "name"] = hostile
    text = render_markdown(run)
    tokens = MARKDOWN.parse(text)
    kinds = [token.type for token in tokens]
    assert "html_block" not in kinds
    assert not [child for token in tokens for child in token.children or () if child.type == "html_inline"]
    assert kinds.count("table_open") == 1
    assert kinds.count("td_open") == kinds.count("th_open") * (kinds.count("tr_open") - 1)
