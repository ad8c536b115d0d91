"""The tools on programs that cost nothing, and on recorded results; the load."""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tools.studies import background_load
from tools.studies.noise.instruments import (
    VALUES,
    WARMUPS,
    Program,
    ProgramTimes,
    Pyperf,
    best_of,
    conclude,
    loops_within,
    pytest_benchmark,
    pytest_result,
    xebench,
)
from xebench.results.analysis.intervals import log_ratios, speedup

DATA = Path(__file__).parent / "data"


def sleeper(seconds: float) -> Program:
    return lambda: time.sleep(seconds)


def test_statistics_of_a_side() -> None:
    deviation: Any = pytest.approx(3**0.5)
    assert ProgramTimes.of([4.0, 1.0, 1.0]) == ProgramTimes(3, 1.0, 2.0, 1.0, deviation)


def test_xebench_compares_block_by_block() -> None:
    # the machine is twice as slow in every other block: medians of the sides would say nothing
    first = [110.0 * (1 + block % 2) + block % 3 for block in range(30)]
    second = [100.0 * (1 + block % 2) + block % 5 / 2 for block in range(30)]
    found = conclude(first, second, "precision")
    expected = speedup([log_ratios(first, second)])
    assert (found.speedup, found.low, found.high) == (expected.estimate, expected.low, expected.high)
    assert found.outcome == "faster"
    assert found.first.n == 30


def test_xebench_stops_when_it_knows() -> None:
    lengths = {"long": itertools.cycle([1050, 1052]), "short": itertools.cycle([1000, 1001, 1002])}
    programs: dict[Program, str] = {sleeper(1): "long", sleeper(2): "short"}
    first, second = programs
    found = xebench(first, second, 5.0, wall_ns=lambda program: next(lengths[programs[program]]), seed=1)
    assert found.stopped_by == "precision"
    assert found.outcome == "faster"
    assert found.low <= 1.05 <= found.high


def test_best_of_n_spends_its_budget_on_both_in_turn() -> None:
    calls: list[str] = []
    found = best_of(lambda: calls.append("first"), lambda: calls.append("second"), 0.02)
    assert [name for name, _ in itertools.groupby(calls)] == ["first", "second"]
    assert found.first.n + found.second.n == len(calls) - 2
    assert found.outcome == ""


def test_pytest_benchmark_is_really_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # pytest-benchmark does nothing in a worker of xdist
    found = pytest_benchmark(sleeper(0.002), sleeper(0.001), 0.04)
    assert found.first.n >= 5
    assert found.first.min_ns >= 2e6
    assert found.second.min_ns >= 1e6
    again = pytest_benchmark(sleeper(0.001), sleeper(0.002), 0.04)
    assert again.second.min_ns >= 2e6


def test_recorded_json_of_pytest_benchmark() -> None:
    recorded = json.loads((DATA / "pytest_benchmark.json").read_text())
    found = pytest_result(recorded)
    second = recorded["benchmarks"][1]["stats"]
    assert recorded["benchmarks"][1]["name"] == "test_second"
    assert found.second.median_ns == pytest.approx(second["median"] * 1e9)
    assert found.second.n == second["rounds"]


def test_pyperf_is_really_run() -> None:
    pytest.importorskip("pyperf")
    measure = Pyperf()
    found = measure(sleeper(0.002), sleeper(0.001), 0.1)
    assert found.first.n == found.second.n == VALUES
    assert found.first.min_ns >= 2e6
    assert measure(sleeper(0.001), sleeper(0.001), 0.1).second.min_ns >= 1e6


def test_pyperf_fits_into_the_budget() -> None:
    assert loops_within(1e6, 0.6) * 2 * (VALUES + WARMUPS) * 1e6 <= 0.6e9
    assert loops_within(1e9, 0.6) == 1


def children() -> list[Any]:
    return [child for child in psutil.Process().children() if "burst(" in " ".join(child.cmdline())]


def test_the_load_is_there_only_as_long_as_it_is_wanted() -> None:
    with pytest.raises(RuntimeError, match="the study failed"), background_load(1):
        running = children()
        assert len(running) == len(os.sched_getaffinity(0))
        raise RuntimeError("the study failed")
    assert not children()
    assert not any(child.is_running() for child in running)
