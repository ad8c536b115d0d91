"""Pages that are written by hand: their links lead somewhere, their commands are accepted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import documented
import pytest

from xebench.cli.main import commands

ROOT = Path(__file__).parents[1]
GENERATED = {"generated-code.md"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED),
]

COMMANDS = {
    command.removeprefix("xebench ")
    for page in documented.PAGES
    for command in documented.commands(page)
    if command.startswith("xebench ")
}


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.exists(), link
            assert not anchor or anchor in headings(target), link


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_command_that_is_shown_is_accepted(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "D").mkdir()  # the run folder of the README
    name, *arguments = shlex.split(command)
    found = commands.get_command(click.Context(commands), name)
    assert found is not None, f"there is no command {name}"
    try:
        found.make_context(name, arguments)
    except click.UsageError as error:
        pytest.fail(f"xebench {command}: {error.format_message()}")


def test_the_readme_is_as_frank_as_the_page_on_measuring() -> None:
    """Both tell of the same runs: every figure of one is in the other."""

    def figures(file: str, begin: str, end: str) -> set[str]:
        text = (ROOT / file).read_text(encoding="utf-8")
        return set(re.findall(r"\d+(?:\.\d+)?", text.partition(begin)[2].partition(end)[0]))

    told = figures("README.md", "**What it cannot detect.**", "\n\n")
    assert told == figures("docs/measurement.md", "### What instances do not show", "## Runs with a budget")
    assert {"11", "4", "72", "19"} <= told
