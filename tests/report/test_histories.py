"""A run for tools that keep histories: the structures that github-action-benchmark and asv document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from xebench.report import formats
from xebench.tables import Run


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


def test_asv_gets_a_results_file_of_version_2(run: Run) -> None:
    file = exported(run, "asv")
    keys = {"commit_hash", "env_name", "date", "params", "python", "requirements", "env_vars", "result_columns"}
    assert keys | {"results", "durations", "version"} <= file.keys() and file["version"] == 2
    assert {"machine", "os", "arch", "cpu", "num_cpu", "ram"} <= file["params"].keys()
    assert file["params"]["machine"] == "gpu-A-GPU"
    results = {name: dict(zip(file["result_columns"], row, strict=False)) for name, row in file["results"].items()}
    cached = results["slm.convolution.cached(default, work_group_size=256)"]
    assert cached["result"] == [pytest.approx(20e-6, rel=0.01)] and cached["params"] == []
    assert len(cached["samples"]) == len(cached["result"]) and len(cached["samples"][0]) == 30
    assert cached["stats_q_25"][0] <= cached["result"][0] <= cached["stats_q_75"][0]
    (broken,) = (row for name, row in results.items() if ".broken(" in name)
    assert broken["result"] is None, "null: a failed benchmark"


def test_asv_gets_the_benchmarks_and_the_machine_beside_it(run: Run) -> None:
    file = exported(run, "asv")
    beside = file["xebench"]
    assert beside["machine.json"]["machine"] == file["params"]["machine"] and beside["machine.json"]["version"] == 1
    benchmarks = beside["benchmarks.json"]
    assert benchmarks.pop("version") == 2 and benchmarks.keys() == file["results"].keys()
    for name, benchmark in benchmarks.items():
        assert {"name", "type", "unit", "params", "param_names", "version", "code"} <= benchmark.keys()
        assert benchmark["version"] == file["results"][name][file["result_columns"].index("version")]
