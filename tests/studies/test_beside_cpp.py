"""The programs in C++ beside our variants: that they are about patterns that there are, and when they are far apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.studies.beside_cpp.cases import CASES, Case, is_far
from xebench.patterns.registry import discover
from xebench.results.analysis.intervals import Interval

FOLDER = Path(__file__).parents[2] / "tools" / "studies" / "beside_cpp"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.pattern} {case.parameters}")
def test_each_case_is_of_variants_of_both_sides(case: Case) -> None:
    (info,) = (info for info in discover() if info.name == case.pattern)
    assert info.metric == "wall"
    programs = re.findall(r"^double (\w+)\(Programs", (FOLDER / f"{case.source}.cpp").read_text(), re.MULTILINE)
    for variant in (case.baseline, *case.variants):
        assert variant in {each.name for each in info.variants}
        assert f"{case.pattern}_{variant}" in programs
    assert set(case.given) <= set(case.parameters) and len(case.given) <= 3


def test_intervals_are_far_apart_by_more_than_15_percent() -> None:
    one = Interval(1.0, 0.9, 1.1, 30)
    assert not is_far(one, Interval(1.2, 1.1, 1.26, 30))
    assert is_far(one, Interval(1.4, 1.27, 1.5, 30)) and is_far(Interval(1.4, 1.27, 1.5, 30), one)
