"""The page of the study of `xebench ab`: its counts, from rows made by hand; and what is planted is 3 % longer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from tools.studies import versions as study
from tools.studies.versions import HEADINGS, counts, page
from xebench.patterns.registry import builtin_files


def row(seed: int, pattern: str, variant: str, outcome: str, by_time: str, speedup: float = 1.0) -> dict[str, Any]:
    return {
        "condition": "quiet", "seed": seed, "budget": 2, "threshold": "1%", "device": "cpu", "seconds": 50.0 + seed,
        "created": f"2026-11-2{seed}", "on": "A CPU", "pattern": pattern, "variant": variant, "metric": "device",
        "speedup": speedup, "speedup_low": speedup * 0.99, "speedup_high": speedup * 1.01, "outcome": outcome,
        "outcome_by_time": by_time,
    }  # fmt: skip


def test_runs_are_counted_once_however_many_pairs_are_wrong() -> None:
    rows = pd.DataFrame(
        [
            row(1, "a", "one", "slower", "slower"),
            row(1, "a", "two", "slower", "slower"),
            row(1, "planted", "longer", "slower", "slower", 1 / 1.03),
            row(2, "a", "one", "same", "slower"),
            row(2, "a", "two", "faster", "same"),
            row(2, "planted", "longer", "inconclusive", "same", 1 / 1.02),
            row(3, "a", "one", "same", "same"),
            row(3, "a", "two", "same", "same"),
            row(3, "planted", "longer", "slower", "slower", 1 / 1.03),
        ]
    )
    (found,) = counts(rows)
    assert found[:7] == ("quiet", 3, "3", "1 of 3", "2 of 3", "2 of 3", "2 of 3")
    assert found[7] == "1.0300" and found[-1] == "52" and len(found) == len(HEADINGS)
    text = page(rows)
    assert "the same 1 patterns" in text and "| quiet | 3 | 3 | 1 of 3 | 2 of 3 | 2 of 3 | 2 of 3 |" in text


def test_one_line_makes_one_variant_longer_in_the_new_version(tmp_path: Path) -> None:
    versions = study._versions(tmp_path)
    old, new = ((version / "planted/planted.py").read_text().splitlines() for version in versions)
    assert [(a, b) for a, b in zip(old, new, strict=True) if a != b] == [(study.LINE, study.LONGER)]
    same = {path.relative_to(versions[0]) for path in versions[0].rglob("*.py")} - {Path("planted/planted.py")}
    assert all((versions[0] / path).read_bytes() == (versions[1] / path).read_bytes() for path in same)


def test_there_are_twenty_equal_patterns_of_the_suite() -> None:
    names = {path.stem for path in builtin_files()}
    assert len(set(study.EQUAL)) == 20 and set(study.EQUAL) <= names
