"""A run as pytest-benchmark's JSON, read by pytest-benchmark itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_run import changed
from hypothesis import given
from hypothesis import strategies as st
from pytest_benchmark.stats import Stats

from xebench.report import formats
from xebench.report.formats.machine_readable import statistics
from xebench.results import Run


def exported(run: Run) -> dict[str, Any]:
    return dict(json.loads(formats.render(run, "pytest-benchmark")))


def on_a_cpu(run: Run) -> Run:
    """The same run, as if a CPU device had made it."""
    place = {"device_class": "cpu", "device": "opencl:cpu:0"}
    tables = {name: getattr(run, name).assign(**place) for name in ("devices", "cases", "pairs")}
    tables["devices"] = tables["devices"].assign(name="Some CPU")
    return changed(run, **tables)


def compare(folder: Path, *options: str) -> str:
    """What ``pytest-benchmark compare`` prints of the files in a folder."""
    files = sorted(folder.glob("*.json"))
    command = [sys.executable, "-m", "pytest_benchmark", "compare", *map(str, files), *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_case_is_a_benchmark_with_times_in_seconds(run: Run) -> None:
    by_name = {
        benchmark["name"]: benchmark for benchmark in exported(run)["benchmarks"] if "cached" in benchmark["name"]
    }
    (cached,) = by_name.values()
    (name,) = run.devices["name"]
    assert cached["name"] == f"cached[gpu {name}]"
    assert cached["group"] == f"convolution default work_group_size=256 [gpu {name}]"
    assert cached["stats"]["median"] == pytest.approx(20e-6, rel=0.01)
    assert cached["stats"]["rounds"] == len(cached["stats"]["data"])
    assert (cached["extra_info"]["device_class"], cached["extra_info"]["device"]) == ("gpu", name)
    (answer,) = cached["extra_info"]["answers"]
    assert (answer["against"], answer["claim"], answer["answer"]) == ("plain", "faster", "holds")
    assert answer["speedup_low"] < answer["speedup"] < answer["speedup_high"]


def test_samples_that_do_not_count_are_left_out(run: Run) -> None:
    cached = run.samples["case_id"].str.contains("cached")
    spoilt = changed(run, samples=run.samples.assign(valid=~(cached & (run.samples["block"] == 0))))

    def rounds(of: Run) -> int:
        return next(
            int(one["stats"]["rounds"]) for one in exported(of)["benchmarks"] if one["name"].startswith("cached")
        )

    assert rounds(spoilt) == rounds(run) - 1


def test_a_case_without_a_result_is_no_benchmark_and_is_named_with_its_reason(run: Run) -> None:
    data = exported(run)
    assert not [one for one in data["benchmarks"] if one["name"].startswith("broken")]
    (broken,) = data["xebench"]["without_result"]
    assert "broken" in broken["case"]
    assert broken["status"] == "wrong"
    assert "1 of 9 elements" in broken["reason"]


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=60))
def test_statistics_are_those_of_pytest_benchmark(times: list[float]) -> None:
    theirs = Stats()
    for time in times:
        theirs.update(time)
    own, wanted = statistics(np.array(times)), theirs.as_dict()
    assert set(wanted) <= set(own)
    for name in ("min", "max", "mean", "stddev", "rounds", "median", "total", "ops"):
        assert own[name] == pytest.approx(wanted[name], rel=1e-9, abs=1e-12), name
    if len(times) % 2 == 0:  # with an odd number they interpolate
        assert (own["q1"], own["q3"]) == pytest.approx((wanted["q1"], wanted["q3"]))
    assert own["min"] <= own["ld15iqr"] <= own["hd15iqr"] <= own["max"]


def test_two_runs_of_a_device_are_compared(run: Run, tmp_path: Path) -> None:
    for name in ("before", "after"):
        (tmp_path / f"{name}.json").write_text(formats.render(run, "pytest-benchmark"))
    tables = compare(tmp_path, f"--csv={tmp_path / 'table.csv'}")
    assert "convolution default work_group_size=256 [gpu" in tables
    assert ": 4 tests" in tables
    assert tables.count("cached[gpu") == 2
    assert (tmp_path / "table.csv").read_text().count("convolution/cached/") == 2


def test_a_run_is_drawn(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pygal", reason="pytest-benchmark[histogram] is not installed")
    (tmp_path / "run.json").write_text(formats.render(run, "pytest-benchmark"))
    compare(tmp_path, f"--histogram={tmp_path / 'plot'}")
    assert list(tmp_path.glob("plot*.svg"))


@pytest.mark.parametrize("by", ["group", "name", "fullname"])
def test_runs_of_a_gpu_and_of_a_cpu_have_nothing_to_compare(run: Run, tmp_path: Path, by: str) -> None:
    for name, one in (("gpu", run), ("cpu", on_a_cpu(run))):
        (tmp_path / f"{name}.json").write_text(formats.render(one, "pytest-benchmark"))
    tables = compare(tmp_path, f"--group-by={by}").split("\n\n")
    assert [table for table in tables if "[cpu Some CPU]" in table]
    assert not [table for table in tables if "[cpu " in table and "[gpu " in table]
