"""Decisions from what each tool recorded, held against what the tools themselves say of the same records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pytest_benchmark.utils import parse_compare_fail

from tools.studies.noise import tallies
from tools.studies.noise.instruments import Observation, ProgramTimes, pytest_result

DATA = Path(__file__).parent / "data"


def table(*observations: Observation) -> pd.DataFrame:
    return pd.DataFrame([one.row() for one in observations])


def side(time_ns: float, stdev_ns: float = 1.0, n: int = 20) -> ProgramTimes:
    return ProgramTimes(n, time_ns, time_ns, time_ns, stdev_ns)


def recorded_pairs() -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads((DATA / "pyperf_compare_to.json").read_text())["pairs"]
    return content


@pytest.mark.parametrize("statistic", ["min", "median", "mean"])
@pytest.mark.parametrize("percent", [1, 5, 15, 20, 25, 30])
def test_thresholds_are_those_of_compare_fail(statistic: str, percent: int) -> None:
    recorded = json.loads((DATA / "pytest_benchmark.json").read_text())
    first, second = (benchmark["stats"] for benchmark in recorded["benchmarks"])
    check = parse_compare_fail(f"{statistic}:{percent}%")
    expected = "faster" if check.fails(first, second) else "slower" if check.fails(second, first) else ""
    calls = tallies.differs_by(table(pytest_result(recorded)), percent, statistic)
    assert list(calls) == [expected]


def test_thresholds_work_in_both_directions() -> None:
    rows = table(
        Observation(side(110), side(100)), Observation(side(100), side(110)), Observation(side(100), side(101))
    )
    assert list(tallies.differs_by(rows, 5.0, "min")) == ["faster", "slower", ""]
    assert list(tallies.differs_by(rows, 12.0, "min")) == ["", "", ""]


@pytest.mark.parametrize("percent", [0, 5])
def test_significance_is_that_of_compare_to(percent: int) -> None:
    pairs = recorded_pairs()
    rows = table(*(Observation(ProgramTimes.of(pair["first_s"]), ProgramTimes.of(pair["second_s"])) for pair in pairs))
    assert list(tallies.significant(rows, percent)) == [pair["said"][str(percent)] for pair in pairs]


def test_stated_outcomes_are_taken_as_they_are_and_only_differences_are_calls() -> None:
    both = side(1), side(1)
    outcomes = ["faster", "slower", "same", "inconclusive"]
    rows = table(*(Observation(*both, outcome=outcome) for outcome in outcomes))
    assert list(tallies.stated(rows)) == ["faster", "slower", "", ""]
