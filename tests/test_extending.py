"""What docs/extending.md adds, added to a copy of the project and used there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from temporary_copy import ROOT, copy_with, environment, python_m

pytestmark = pytest.mark.device

FIXTURES = ROOT / "tests/tables/fixtures"
STORED = [*sorted(path for path in FIXTURES.iterdir() if path.is_dir()), ROOT / "results/h200-two-devices"]

#: Submits the same kernel eight times: waiting for each leaves the device idle in between.
WAITS = """
import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

SIZES = {"n": 1 << 10}
PRESETS = {"smoke": SIZES, "default": SIZES}
pattern = Pattern("waits", guide="none", lesson="Do not wait.", metric="gaps", presets=PRESETS)

@kernel
def double(item: kapi.Item, x, y):
    y[item.get_id(0)] = x[item.get_id(0)] + x[item.get_id(0)]

@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))

@pattern.reference
def expected(p):
    return {"y": p.x + p.x}

@pattern.naive
def wait_each_time(session, p):
    for _ in range(8):
        session.launch(double, kapi.Range(p.n), p.x, p.y)
        session.wait()

@pattern.optimized
def wait_at_the_end(session, p):
    for _ in range(8):
        session.launch(double, kapi.Range(p.n), p.x, p.y)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with the sections that this module tests."""
    return copy_with(tmp_path_factory.mktemp("copy"), "A pattern", "A metric", "A probe")


@pytest.fixture(scope="module")
def tables(copy: Path) -> dict[str, pd.DataFrame]:
    """The tables of a run of the pattern and of one with the metric."""
    (copy / "waits.py").write_text(WAITS)
    run = ("run", "one_pass", "waits", "--path", "waits.py", "--preset", "smoke", "--device", "cpu", "--output", "run")
    python_m(copy, "xebench", *run, "--budget", "0.1")
    return {path.stem: pd.read_parquet(path) for path in (copy / "run").glob("*.parquet")}


@pytest.mark.compiler
def test_a_pattern_is_a_file(tables: dict[str, pd.DataFrame]) -> None:
    cases = tables["cases"].query("pattern == 'one_pass'")
    assert set(cases["source"]) == {"benchmarks/fusion/one_pass.py"}
    assert set(cases["status"]) == {"ok"}
    assert (tables["pairs"].query("pattern == 'one_pass'")["speedup"] > 0).all()


@pytest.mark.compiler
def test_a_metric_is_a_row_and_a_function(tables: dict[str, pd.DataFrame]) -> None:
    cases = tables["cases"].query("pattern == 'waits'")
    assert set(cases["metric"]) == {"gaps"} and set(cases["status"]) == {"ok"}
    (pair,) = tables["pairs"].query("pattern == 'waits'").to_dict("records")
    hot = tables["samples"].query("case_id.str.startswith('waits/') and state == 'hot'")
    waiting = hot[hot["valid"] & hot["case_id"].str.startswith("waits/wait_each_time/")]
    assert pair["metric"] == "gaps" and pair["speedup"] > 0
    assert pair["baseline_ns"] == pytest.approx(waiting["gaps_ns"].median())
    for sample in hot.itertuples():
        events = tables["events"].query(f"sample_id == {sample.sample_id}").sort_values("sequence")
        executions = events.groupby(np.arange(len(events)) // 8)
        idle_ns = executions["end_ns"].max() - executions["start_ns"].min()
        idle_ns -= executions["end_ns"].sum() - executions["start_ns"].sum()
        assert len(executions) == sample.batch and sample.gaps_ns == pytest.approx(idle_ns.mean())


@pytest.mark.parametrize("folder", STORED)
def test_runs_that_are_older_than_a_metric_are_read(copy: Path, folder: Path) -> None:
    """Finished or killed, of this version or of the one before: the new column is null in them."""
    read = f"import xebench; run = xebench.load_run({str(folder)!r}); print(run.samples['gaps_ns'].isna().all())"
    done = subprocess.run(
        [sys.executable, "-c", read], env=environment(copy), capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "True", done.stderr


def test_a_probe_is_a_row_and_its_measurement(copy: Path) -> None:
    names = ("launch_host", "launch_call")
    answer = python_m(copy, "xebench.roofline.probe_worker", "opencl:cpu:0", "quick", *names).splitlines()[-1]
    whole, call = json.loads(answer)
    assert (whole["probe"], call["probe"]) == names
    assert call["status"] == "ok" and 0 < call["value"] < whole["value"]
