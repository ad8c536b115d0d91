"""A run for tools that keep histories: the structures that github-action-benchmark documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from xebench.report import formats
from xebench.results import Run


def exported(run: Run, form: str) -> Any:
    return json.loads(formats.render(run, form))


@pytest.mark.parametrize("form", ["github-action-benchmark", "github-action-speedups"])
def test_github_action_benchmark_gets_an_array_of_named_values(run: Run, form: str) -> None:
    entries = exported(run, form)
    assert entries and len({entry["name"] for entry in entries}) == len(entries), "a name has one history"
    for entry in entries:
        assert {"name", "unit", "value"} <= entry.keys() <= {"name", "unit", "value", "range", "extra"}
        assert isinstance(entry["value"], float) and all(
            isinstance(entry[key], str) for key in entry.keys() - {"value"}
        )


def test_times_and_speed_ups_are_those_of_the_tables(run: Run) -> None:
    (times,) = (each for each in exported(run, "github-action-benchmark") if "/cached" in each["name"])
    assert times["name"] == "convolution/cached default work_group_size=256 [gpu A GPU]"
    assert times["value"] == pytest.approx(20_000, rel=0.01) and times["unit"] == "ns"
    assert times["range"].startswith("± ") and times["extra"] == "30 samples"
    (speedup,) = (each for each in exported(run, "github-action-speedups") if "/cached" in each["name"])
    assert speedup["name"].startswith("convolution/cached over plain default")
    assert speedup["value"] == pytest.approx(2, rel=0.01) and speedup["extra"] == "holds"
