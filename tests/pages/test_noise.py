"""README.md and the page of the noise study show what the study found."""

from __future__ import annotations

from pathlib import Path

import stored
from click.testing import CliRunner

from tools.pages.measured import in_brief, noise, not_reached
from tools.studies.noise.study_folder import read_data

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "results" / "studies" / "noise"


@stored.needed
def test_both_pages_are_those_of_the_stored_study(tmp_path: Path) -> None:
    pages = ROOT / "README.md", ROOT / "docs" / "noise-study.md"
    copies = [tmp_path / page.name for page in pages]
    for page, copy in zip(pages, copies, strict=True):
        copy.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    done = CliRunner().invoke(
        noise, ["--readme", str(copies[0]), "--page", str(copies[1]), "--study", str(STUDY)], catch_exceptions=False
    )
    assert done.exit_code == 0
    for page, copy in zip(pages, copies, strict=True):
        assert copy.read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), "make docs renews it"


@stored.needed
def test_false_alarms_and_missed_goals_are_told_as_they_are() -> None:
    rows = read_data(STUDY).rows
    equal = rows["excess"] == 0
    alarmed = rows.assign(outcome=rows["outcome"].mask(equal & rows["tool"].eq("xebench"), "faster"))
    assert "| equal pairs that xebench calls different | 100 % (" in in_brief(alarmed)
    assert "- load: false alarms of xebench at most 5%, surely at most 7%: 100 % (" in not_reached(alarmed)
