"""The page of the noise study shows what the study found."""

from __future__ import annotations

import re
from pathlib import Path

import stored
from click.testing import CliRunner

from tools.pages.measured import in_brief, noise, not_reached
from tools.studies.noise.study_folder import read_data

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "results" / "studies" / "noise"


@stored.needed
def test_the_page_is_that_of_the_stored_study(tmp_path: Path) -> None:
    page = ROOT / "docs" / "noise-study.md"
    copy = tmp_path / page.name
    copy.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    done = CliRunner().invoke(noise, ["--page", str(copy), "--study", str(STUDY)], catch_exceptions=False)
    assert done.exit_code == 0
    assert copy.read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), "make docs renews it"


def test_the_readme_has_the_figures_of_the_page() -> None:
    page = (ROOT / "docs" / "noise-study.md").read_text(encoding="utf-8")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for row, said in (
        ("equal pairs that xebench calls different", "called {0} to {1} % of equal pairs different"),
        ("pairs of 2% that xebench finds", "found {0} to {1} % of differences of 2 %"),
    ):
        found = re.search(rf"^\| {row} \| (\d+) % .*? \| (\d+) % ", page, re.MULTILINE)
        assert found and said.format(*sorted(map(int, found.groups()))) in readme


@stored.needed
def test_false_alarms_and_missed_goals_are_told_as_they_are() -> None:
    rows = read_data(STUDY).rows
    equal = rows["excess"] == 0
    alarmed = rows.assign(outcome=rows["outcome"].mask(equal & rows["tool"].eq("xebench"), "faster"))
    assert "| equal pairs that xebench calls different | 100 % (" in in_brief(alarmed)
    assert "- load: false alarms of xebench at most 5%, surely at most 7%: 100 % (" in not_reached(alarmed)
