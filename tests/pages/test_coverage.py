"""docs/coverage.md says what the patterns say."""

from __future__ import annotations

from pathlib import Path

from harness.pages.coverage import entries, markdown
from harness.patterns.registry import discover

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_up_to_date() -> None:
    assert (DOCS / "coverage.md").read_text() == markdown(discover()), "run 'make docs'"


def test_every_entry_that_a_pattern_names_is_in_the_catalogue() -> None:
    known = {entry["id"] for entry in entries()}
    for info in discover():
        assert set(info.catalogue) <= known, info.name
        of_guide = any(not claim.is_ours for variant in info.variants for claim in variant.claims)
        assert info.catalogue or not of_guide, f"{info.name} names no entry of the catalogue"
