"""The README's results are those of the run that it names."""

from __future__ import annotations

from pathlib import Path

import pytest
import stored

from tools.pages.measured import PATTERNS, renewed_readme
from xebench.results import load_run

ROOT = Path(__file__).parents[2]
RUN = ROOT / "results" / "cpu-epyc-2-cores"


@stored.needed
def test_the_readme_shows_what_was_measured() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert renewed_readme(text, load_run(RUN)) == text, "make docs renews it"
    for pattern in PATTERNS:
        assert f"\n{pattern}, n=" in text


@stored.needed
def test_a_page_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="the page has no"):
        renewed_readme("nothing", load_run(RUN))
